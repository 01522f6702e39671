import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { provideServer } from '../fixtures/provide-database-server.ts'
import { fuzz } from './fuzz.ts'
import { fuzzManagement } from './management.ts'
import { fuzzPictures } from './pictures.ts'
import { fuzzUpgrades } from './upgrades.ts'

/**
 * 100,000 requests to the engine's API, a tenth as many to management's, connections to the engine's output and requests for
 * pictures besides; fails if one is answered wrongly, or if memory or files leak.
 */

const REQUESTS = Number(process.argv[2] ?? 100_000)
const MANAGEMENT_REQUESTS = Math.ceil(REQUESTS / 10)
const CONNECTIONS = Math.ceil(REQUESTS / 50)
const PICTURES = Math.ceil(REQUESTS / 20)
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

const data = mkdtempSync(join(tmpdir(), 'eyrie-fuzz-'))
await fuzzUpgrades(join(data, 'output'), { connections: CONNECTIONS })
process.stdout.write(`${CONNECTIONS} connections to the output\n`)
await fuzzPictures(join(data, 'pictures'), { requests: PICTURES })
process.stdout.write(`${PICTURES} requests for pictures\n`)
rmSync(data, { recursive: true })

const server = await provideServer(which => process.stdout.write(`databases on ${which}\n`))
try {
  await fuzzManagement({ requests: MANAGEMENT_REQUESTS, server })
} finally {
  await server.stop()
}
process.stdout.write(`${MANAGEMENT_REQUESTS} requests to management\n`)

const growth = last - (warm ?? last)
const left = openFiles() - filesBefore
if (growth > MOST_GROWTH_BYTES || left > 0) {
  process.stderr.write(`something leaks: ${growth} bytes of heap, ${left} open files\n`)
  process.exitCode = 1
} else process.stdout.write(`${REQUESTS} requests: every answer is as the contract says, and nothing leaks\n`)
