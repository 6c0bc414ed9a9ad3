// A small server that stalls on order: POST /stall?ms=500&kind=computing (or blocked). Its answer says what it really
// did: from, to and its own CPU time, in nanoseconds. GET /work computes for 2 ms, and GET /pauses says when nothing
// was served for 25 ms and more, whatever the reason. POST /leak?bytes=10000000 and /handles?n=100 keep what they are
// told to. With MUTE set, nothing else is answered.
//
// With CLUSTER set, a worker process answers, which has no probe if that is "unseen". LOOPS says which thread does:
// "elsewhere" one that the probe enters, "unseen" one that it cannot enter, "ending" one that the main thread ends in
// the middle of a stall, after which another comes, "main" one beside a main thread that computes every two seconds by
// itself, as the process does that launches another with LAUNCHER set, and the primary one with CLUSTER "busy". With
// "pool" the main thread answers, and POST /compute?ms=500 has another thread compute; with "late" it gives its port to
// an unseen thread at POST /later. CALLER says which thread keeps a connection to the port STUB: "main" or "worker".
'use strict'
const cluster = require('node:cluster')
const { spawn } = require('node:child_process')
const { openSync } = require('node:fs')
const { createServer } = require('node:http')
const { connect } = require('node:net')
const { Worker, isMainThread, parentPort } = require('node:worker_threads')

const held = new Int32Array(new SharedArrayBuffer(4))

function compute(ms) {
  for (const until = process.hrtime.bigint() + BigInt(ms) * 1_000_000n; process.hrtime.bigint() < until; );
  return 'ok'
}

let last = process.hrtime.bigint()
const pauses = []
const kept = []

function served() {
  const now = process.hrtime.bigint()
  if (now - last >= 25_000_000n) pauses.push(last, now)
  last = now
}

function stall(kind, ms) {
  const from = process.hrtime.bigint()
  const cpu = process.cpuUsage()
  if (kind === 'blocked') Atomics.wait(held, 0, 0, ms)
  else compute(ms)
  const { user, system } = process.cpuUsage(cpu)
  return `${from} ${process.hrtime.bigint()} ${(user + system) * 1000}`
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://x')
  const ms = Number(searchParams.get('ms'))
  served()
  let said = 'ok'
  if (pathname === '/stall') {
    parentPort?.postMessage('stall')
    said = stall(searchParams.get('kind'), ms)
  } else if (pathname === '/work') said = compute(2)
  else if (pathname === '/leak') kept.push(Buffer.alloc(Number(searchParams.get('bytes')), 'x'))
  else if (pathname === '/handles') for (let n = searchParams.get('n'); n > 0; n--) kept.push(openSync('/dev/null'))
  else if (pathname === '/pauses') said = pauses.join(' ')
  else if (pathname === '/compute') said = await inPool(ms)
  else if (pathname === '/later') {
    server.close(unseen)
    setTimeout(() => server.closeAllConnections(), 100)
  }
  response.setHeader('Content-Length', said.length)
  if (pathname === '/later') response.setHeader('Connection', 'close')
  if (said !== 'ok' || pathname === '/work' || !process.env.MUTE) response.end(said)
  served()
})

const listen = () => server.listen(Number(process.env.PORT), '127.0.0.1')
const unseen = () => void new Worker(__filename, { env: { PORT: process.env.PORT } })
let pool

function inPool(ms) {
  pool.postMessage(ms)
  return new Promise((done) => pool.once('message', done))
}

// It has listened once, and does so no longer.
function computeOnOrder() {
  const brief = createServer().listen(0, '127.0.0.1', () => brief.close())
  parentPort.on('message', (ms) => parentPort.postMessage(compute(ms)))
}

function ending() {
  const worker = new Worker(__filename)
  worker.once('message', () => setTimeout(() => worker.terminate().then(ending), 600))
}

const call = () => connect(Number(process.env.STUB), '127.0.0.1')

// From within, since whoever computes here answers nobody.
function computeNowAndThen() {
  setInterval(() => compute(800), 2000)
}

function launch() {
  spawn(process.execPath, [__filename], { stdio: 'inherit', env: { ...process.env, LAUNCHER: '' } })
  computeNowAndThen()
}

function start(loops) {
  if (process.env.CALLER === 'main') call()
  else if (process.env.CALLER === 'worker') new Worker(__filename)
  if (loops === 'elsewhere' || loops === 'main') new Worker(__filename)
  else if (loops === 'unseen') unseen()
  else if (loops === 'ending') ending()
  else listen()
  if (loops === 'main') computeNowAndThen()
  // One more thread, whose loop is nobody's business.
  if (process.env.CLUSTER) new Worker(__filename, { argv: ['idle'] })
  if (loops === 'pool') pool = new Worker(__filename, { argv: ['pool'] })
}

if (!isMainThread) {
  if (process.argv.includes('pool')) computeOnOrder()
  else if (process.argv.includes('idle')) setInterval(() => {}, 1000)
  else if (process.env.CALLER) call()
  else listen()
} else if (process.env.LAUNCHER) launch()
else if (process.env.CLUSTER && cluster.isPrimary) {
  if (process.env.CLUSTER === 'busy') computeNowAndThen()
  cluster.fork(process.env.CLUSTER === 'unseen' ? { NODE_OPTIONS: '' } : {})
} else start(process.env.LOOPS)
