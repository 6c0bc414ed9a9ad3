// A small server that stalls on order: POST /stall?ms=500&kind=computing (or blocked). Its answer says what it really
// did: from, to and its own CPU time, in nanoseconds. With CLUSTER set, a worker process answers.
'use strict'
const cluster = require('node:cluster')
const { createServer } = require('node:http')
const { Worker } = require('node:worker_threads')

const held = new Int32Array(new SharedArrayBuffer(4))

function stall(kind, ms) {
  const from = process.hrtime.bigint()
  const cpu = process.cpuUsage()
  if (kind === 'blocked') Atomics.wait(held, 0, 0, ms)
  else for (const until = from + BigInt(ms) * 1_000_000n; process.hrtime.bigint() < until; );
  const { user, system } = process.cpuUsage(cpu)
  return `${from} ${process.hrtime.bigint()} ${(user + system) * 1000}`
}

if (process.env.CLUSTER && cluster.isPrimary) cluster.fork()
else {
  // One more thread, whose loop is nobody's business.
  if (process.env.CLUSTER) new Worker('setInterval(() => {}, 1000)', { eval: true })
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://x')
    const said = pathname === '/stall' ? stall(searchParams.get('kind'), Number(searchParams.get('ms'))) : 'ok'
    response.setHeader('Content-Length', said.length)
    response.end(said)
  })
  server.listen(Number(process.env.PORT), '127.0.0.1')
}
