// A small server that stalls on order: POST /stall?ms=500&kind=computing (or blocked). Its answer says what it really
// did: from, to and its own CPU time, in nanoseconds. GET /work computes for 2 ms, and GET /pauses says when nothing
// was served for 25 ms and more, whatever the reason. With CLUSTER set, a worker process answers.
'use strict'
const cluster = require('node:cluster')
const { createServer } = require('node:http')
const { Worker } = require('node:worker_threads')

const held = new Int32Array(new SharedArrayBuffer(4))

function compute(ms) {
  for (const until = process.hrtime.bigint() + BigInt(ms) * 1_000_000n; process.hrtime.bigint() < until; );
  return 'ok'
}

let last = process.hrtime.bigint()
const pauses = []

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

if (process.env.CLUSTER && cluster.isPrimary) cluster.fork()
else {
  // One more thread, whose loop is nobody's business.
  if (process.env.CLUSTER) new Worker('setInterval(() => {}, 1000)', { eval: true })
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://x')
    served()
    let said = 'ok'
    if (pathname === '/stall') said = stall(searchParams.get('kind'), Number(searchParams.get('ms')))
    else if (pathname === '/work') said = compute(2)
    else if (pathname === '/pauses') said = pauses.join(' ')
    response.setHeader('Content-Length', said.length)
    response.end(said)
    served()
  })
  server.listen(Number(process.env.PORT), '127.0.0.1')
}
