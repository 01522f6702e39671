import { readdirSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { fuzz } from './fuzz.ts'

/** 100,000 requests to the engine's API; fails if one is answered wrongly, or if memory or files leak. */

const REQUESTS = Number(process.argv[2] ?? 100_000)
const MOST_GROWTH_BYTES = 32 << 20

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const heapBytes = () => {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
const openFiles = () => readdirSync('/proc/self/fd').length

let warm: number | undefined
let last = 0
// The first engine of a process opens files that stay open for all that follow.
await fuzz({ requests: 1 })
const filesBefore = openFiles()
await fuzz({
  requests: REQUESTS,
  onProgress: sent => {
    if (sent === 0 || sent % 10_000 !== 0) return
    last = heapBytes()
    warm ??= last
    process.stdout.write(`${sent} requests, ${Math.round(last / (1 << 20))} MiB of heap\n`)
  },
})

const growth = last - (warm ?? last)
const left = openFiles() - filesBefore
if (growth > MOST_GROWTH_BYTES || left > 0) {
  process.stderr.write(`the engine leaks: ${growth} bytes of heap, ${left} open files\n`)
  process.exitCode = 1
} else process.stdout.write(`${REQUESTS} requests: every answer is as the contract says, and nothing leaks\n`)
