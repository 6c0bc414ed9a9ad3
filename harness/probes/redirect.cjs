// Sends what a Node process means for https://api.telegram.org to the rig's stub, on this machine.
//
// The rig preloads this file (`NODE_OPTIONS=--require`); the program notices nothing. Every client of Node comes to
// `tls.connect` in the end (https, fetch, undici, node-fetch, axios), so that one function is replaced: for Telegram's
// host it gives a plain connection to the stub, whose answers are read as if they had been encrypted. Nothing else may
// reach that host: its name does not resolve here. A mark named by the process's id says that the file was loaded,
// and later that it was of use.
'use strict'

try {
  const stub = process.env.FLOODRIG_REDIRECT
  if (stub) redirect(new URL(stub), process.env.FLOODRIG_REDIRECT_MARKS)
} catch {
  // A hook must never be the reason why a program does not start.
}

function redirect(stub, marks) {
  // Taken now: a program's tests may replace them later.
  const { writeFileSync } = require('node:fs')
  const dns = require('node:dns')
  const net = require('node:net')
  const tls = require('node:tls')
  const HOST = 'api.telegram.org'
  // What a plain connection obeys of the options of an encrypted one.
  const KEPT = ['timeout', 'keepAlive', 'keepAliveInitialDelay', 'noDelay', 'highWaterMark', 'signal']
  let marked

  function mark(word) {
    if (marked === word) return
    marked = word
    try {
      writeFileSync(`${marks}/${process.pid}`, word)
    } catch {
      // Then the rig says that it does not know.
    }
  }

  function isTelegram(host) {
    return typeof host === 'string' && host.toLowerCase().replace(/\.$/, '') === HOST
  }

  // connect(options), connect(port, options), connect(port, host, options), each with a callback behind it
  function optionsOf(given) {
    const options = Object.assign({}, ...given.filter((one) => one !== null && typeof one === 'object'))
    if (typeof given[1] === 'string') options.host = given[1]
    return options
  }

  const { connect } = tls
  tls.connect = function (...given) {
    const options = optionsOf(given)
    if (!isTelegram(options.host) && !isTelegram(options.servername)) return connect.apply(this, given)
    // A way that a proxy has opened leads out of this machine.
    options.socket?.destroy?.()
    const kept = Object.fromEntries(KEPT.filter((name) => name in options).map((name) => [name, options[name]]))
    const socket = net.connect({ ...kept, host: stub.hostname, port: Number(stub.port) })
    const callback = given.at(-1)
    if (typeof callback === 'function') socket.once('secureConnect', callback)
    socket.once('connect', () => socket.emit('secureConnect'))
    mark('redirected')
    return dressed(socket)
  }

  // As clients ask an encrypted connection that is in order.
  function dressed(socket) {
    return Object.assign(socket, {
      encrypted: true,
      authorized: true,
      authorizationError: null,
      alpnProtocol: false,
      getPeerCertificate: () => ({}),
      getProtocol: () => 'TLSv1.3',
      getCipher: () => ({}),
      getSession: () => undefined,
      isSessionReused: () => false,
      setServername: () => {},
    })
  }

  function refusal() {
    const says = `floodrig refuses a connection to ${HOST} that is not https`
    return Object.assign(new Error(says), { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: HOST })
  }

  const { lookup } = dns
  dns.lookup = function (host, ...rest) {
    if (!isTelegram(host)) return lookup.call(this, host, ...rest)
    process.nextTick(rest.at(-1), refusal())
  }
  const { lookup: promised } = dns.promises
  dns.promises.lookup = function (host, ...rest) {
    return isTelegram(host) ? Promise.reject(refusal()) : promised.call(this, host, ...rest)
  }

  // For programs that import these functions by name.
  require('node:module').syncBuiltinESMExports()
  mark('loaded')
}
