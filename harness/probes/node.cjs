// The heartbeat of a Node process: its own event loop writes, every 20 ms, when it was last here.
//
// The rig preloads this file (`NODE_OPTIONS=--require`) and reads the page; the process notices nothing. It prints
// nothing, keeps no process alive, and whatever goes wrong in it is kept from the program: then there is no page,
// which the rig reports. One page a process, named by its id, so that cluster workers and npm have their own; a worker
// thread has none. The layout is told in harness/src/vitals/heartbeat/page.rs, and both ends must change together.
'use strict'

try {
  const folder = process.env.FLOODRIG_HEARTBEAT
  if (folder && require('node:worker_threads').isMainThread) beat(folder)
} catch {
  // A probe must never be the reason why a program does not start.
}

function beat(folder) {
  // Taken now: a program's tests may replace them later.
  const { openSync, readSync, writeSync } = require('node:fs')
  const now = process.hrtime.bigint
  const TICK_MS = 20
  // A gap this long between two beats is kept: 50 ms beyond the middle of a tick.
  const KEPT_NS = 60_000_000n
  const RING = 16
  const HEAD_BYTES = 96

  const page = openSync(`${folder}/${process.pid}`, 'w', 0o600)
  const head = new BigUint64Array(HEAD_BYTES / 8)
  const gap = new BigUint64Array(4)
  const scheduled = openScheduled()
  const text = Buffer.alloc(96)
  // The last beat, for whoever looks from another thread.
  const beats = new BigInt64Array(new SharedArrayBuffer(8))

  // Nanoseconds that the main thread has run, and has waited for a processor: /proc/self/schedstat.
  function openScheduled() {
    try {
      return openSync('/proc/self/schedstat', 'r')
    } catch {
      return undefined
    }
  }

  function readScheduled() {
    if (scheduled === undefined) return
    const length = readSync(scheduled, text, 0, text.length, 0)
    const [run, wait] = text.latin1Slice(0, length).split(' ', 2)
    head[5] = BigInt(run)
    head[6] = BigInt(wait)
  }

  function keep(from, run, wait) {
    gap[0] = from
    gap[1] = head[4]
    gap[2] = head[5] - run
    gap[3] = head[6] - wait
    const at = HEAD_BYTES + Number(head[7] % BigInt(RING)) * gap.byteLength
    writeSync(page, gap, 0, gap.byteLength, at)
    head[7] += 1n
  }

  function write() {
    head[1] += 1n
    head[11] = head[1]
    writeSync(page, head, 0, HEAD_BYTES, 0)
  }

  const HELLO = 1n
  const BEATING = 2n
  head[0] = 0x3130_5452_4145_4846n // "FHEART01"
  head[2] = (HELLO << 32n) | BigInt(process.pid)
  head[3] = BigInt(TICK_MS) * 1_000_000n
  head[4] = now()
  head[8] = BigInt(process.pid)
  write()

  function tick() {
    try {
      const [from, run, wait] = [head[4], head[5], head[6]]
      head[4] = now()
      readScheduled()
      const beating = head[2] >> 32n === BEATING
      head[2] = (BEATING << 32n) | BigInt(process.pid)
      // Before the first beat no loop was running: loading a program is no stall.
      if (beating && head[4] - from > KEPT_NS) keep(from, run, wait)
      beats[0] = head[4]
      write()
    } catch {
      clearInterval(timer)
    }
  }

  const timer = setInterval(tick, TICK_MS)
  timer.unref()
  if (process.env.FLOODRIG_STACKS) lookAtStacks()

  function lookAtStacks() {
    const { Worker } = require('node:worker_threads')
    const workerData = { beats, path: `${folder}/${process.pid}.stack` }
    const worker = new Worker(`${__dirname}/node-stacks.cjs`, { workerData, execArgv: [] })
    // What goes wrong there must not end the program.
    worker.on('error', () => {})
    worker.unref()
  }
}
