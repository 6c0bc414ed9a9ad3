// The heartbeat of a Node process: its own event loops come round every 20 ms, and write when they did.
//
// The rig preloads this file (`NODE_OPTIONS=--require`) and reads the pages; the process notices nothing. It prints
// nothing, keeps no process alive, and whatever goes wrong in it is kept from the program: then there is no page,
// which the rig reports. One page a process, named by its id, so that cluster workers and npm have their own. A worker
// thread has one only while it listens, named by the process and the thread: one that computes for others may well keep
// its own loop waiting. The layout is told in harness/src/vitals/heartbeat/page.rs, and both ends must change together.
'use strict'

try {
  const { isMainThread } = require('node:worker_threads')
  const folder = process.env.FLOODRIG_HEARTBEAT
  // Deno loads this file too, and never comes to the second beat; whoever else stands in for Node has not been tried.
  const { deno, bun } = process.versions
  // A worker may be started with an environment of its own, and has loaded this file all the same.
  if (!deno && !bun && (folder || !isMainThread)) watch(folder || `${__dirname}/pages`, isMainThread)
} catch {
  // A probe must never be the reason why a program does not start.
}

function watch(folder, isMainThread) {
  // Taken now: a program's tests may replace them later.
  const { openSync, readlinkSync, readSync, writeSync } = require('node:fs')
  const { Server } = require('node:net')
  const now = process.hrtime.bigint
  const TICK_MS = 20
  // A gap this long between two beats is kept: 50 ms beyond the middle of a tick.
  const KEPT_NS = 60_000_000n
  // To ask what the thread has had, and to write, is dear when all caches are cold (scripts/bench heartbeat). One that had
  // less than a tenth of the time rests: unless a beat is late it is asked at every fourth, so that a gap may have been
  // given what it had in 75 ms before, and writes at every second.
  const TICK_NS = BigInt(TICK_MS) * 1_000_000n
  const IN_TIME_NS = 25_000_000n
  const RESTING = 10n
  const RESTING_BEATS = 4
  const WRITING_BEATS = 2
  const RING = 16
  const HEAD_BYTES = 96
  // A word of the page has room for so many.
  const PORTS = 4

  // The state's word has the process as well.
  const stateOf = (state) => (state << 32n) | BigInt(process.pid)
  const HELLO = stateOf(1n)
  const BEATING = stateOf(2n)
  const ENDED = stateOf(3n)

  const head = new BigUint64Array(HEAD_BYTES / 8)
  const gap = new BigUint64Array(4)
  const text = Buffer.alloc(96)
  // The last beat, for whoever looks from another thread.
  const beats = new BigInt64Array(new SharedArrayBuffer(8))
  // What listens in this thread, and on which port.
  const servers = new Map()
  let page, scheduled, timer
  // When the thread was last asked, and the beats until it is asked again; one that cannot be asked has had nothing.
  let askedAt = 0n
  let beatsUntilAsked = 1
  let rests = false

  // Nanoseconds that this thread has run, and has waited for a processor.
  function openScheduled() {
    try {
      return openSync('/proc/thread-self/schedstat', 'r')
    } catch {
      return undefined
    }
  }

  function readScheduled() {
    if (scheduled === undefined) return
    const before = head[5] + head[6]
    const length = readSync(scheduled, text, 0, text.length, 0)
    const [run, wait] = text.latin1Slice(0, length).split(' ', 2)
    head[5] = BigInt(run)
    head[6] = BigInt(wait)
    const had = head[5] + head[6] - before
    rests = had * RESTING < head[4] - askedAt
    beatsUntilAsked = rests ? RESTING_BEATS : 1
    askedAt = head[4]
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

  function write(state) {
    head[1] += 1n
    head[2] = state
    head[10] = rests ? TICK_NS * BigInt(WRITING_BEATS) : TICK_NS
    head[11] = head[1]
    writeSync(page, head, 0, HEAD_BYTES, 0)
  }

  function open() {
    const thread = isMainThread ? process.pid : Number(readlinkSync('/proc/thread-self').split('/').pop())
    page = openSync(isMainThread ? `${folder}/${process.pid}` : `${folder}/${process.pid}-${thread}`, 'w', 0o600)
    scheduled = openScheduled()
    head[0] = 0x3130_5452_4145_4846n // "FHEART01"
    head[3] = TICK_NS
    head[8] = BigInt(thread)
  }

  function begin() {
    if (page === undefined) open()
    head[4] = now()
    // What it has had until now, in a rest too, is no gap's; and nothing says yet how much it will have.
    askedAt = head[4]
    readScheduled()
    write(HELLO)
    timer = setInterval(tick, TICK_MS)
    timer.unref()
  }

  function tick() {
    try {
      const from = head[4]
      const run = head[5]
      const wait = head[6]
      head[4] = now()
      beatsUntilAsked -= 1
      const isLate = head[4] - from > IN_TIME_NS
      if (isLate || beatsUntilAsked === 0) readScheduled()
      // Before the first beat no loop was running: loading a program is no stall.
      if (head[4] - from > KEPT_NS && head[2] === BEATING) keep(from, run, wait)
      beats[0] = head[4]
      forget()
      if (!isMainThread && servers.size === 0) rest()
      else if (isLate || !rests || beatsUntilAsked % WRITING_BEATS === 0) write(BEATING)
    } catch {
      giveUp()
    }
  }

  // A page that is no longer written must not look like a loop that hangs.
  function giveUp() {
    try {
      rest()
    } catch {
      // Not even that can be written.
    }
  }

  // Servers that have closed, and their last connections with them.
  function forget() {
    const count = servers.size
    for (const server of servers.keys()) if (!server.listening && !server._connections) servers.delete(server)
    if (servers.size < count) tellPorts()
  }

  function tellPorts() {
    head[9] = [...servers.values()].slice(0, PORTS).reduce((ports, port) => (ports << 16n) | port, 0n)
  }

  // A worker that listens no longer may compute as long as it likes.
  function rest() {
    clearInterval(timer)
    timer = undefined
    write(ENDED)
  }

  function serves(server) {
    try {
      // A server on a path of the file system has no port.
      const { port } = server.address()
      servers.set(server, BigInt(port || 0))
      tellPorts()
      if (timer === undefined) begin()
    } catch {
      // It stays without a page.
    }
  }

  function lookAtServers() {
    const { listen } = Server.prototype
    const heard = new WeakSet()
    Server.prototype.listen = function (...words) {
      if (!heard.has(this)) {
        heard.add(this)
        this.on('listening', () => serves(this))
      }
      return Reflect.apply(listen, this, words)
    }
  }

  function lookAtStacks() {
    const { Worker } = require('node:worker_threads')
    const workerData = { beats, path: `${folder}/${process.pid}.stack` }
    const worker = new Worker(`${__dirname}/node-stacks.cjs`, { workerData, execArgv: [] })
    // What goes wrong there must not end the program.
    worker.on('error', () => {})
    worker.unref()
  }

  if (isMainThread) begin()
  lookAtServers()
  if (isMainThread && process.env.FLOODRIG_STACKS) lookAtStacks()
}
