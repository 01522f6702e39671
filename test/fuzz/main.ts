import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startDatabaseServer } from '../fixtures/setup/database-server.ts'
import { fuzzEngine } from './engine-requests.ts'
import { fuzzManagement } from './management-requests.ts'
import { fuzzOutputConnections } from './output-connections.ts'
import { fuzzPictures } from './picture-requests.ts'

/**
 * Fuzzes the engine's API, its output and pictures, and the management API: node
 * test/fuzz/main.ts [engine requests]. Fails when a response violates the contract, when the heap
 * grows, or when files stay open.
 */
const requests = Number(process.argv[2] ?? 100_000)
if (!Number.isInteger(requests) || requests < 1) {
  process.stderr.write(`number of requests must be a positive integer, not ${process.argv[2]}\n`)
  process.exit(2)
}
const managementRequests = Math.ceil(requests / 10)
const outputConnections = Math.ceil(requests / 50)
const pictureRequests = Math.ceil(requests / 20)

const HEAP_SAMPLE_INTERVAL = 10_000
const MAX_HEAP_GROWTH_BYTES = 32 << 20

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function measureHeap(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

const countOpenFiles = () => readdirSync('/proc/self/fd').length
const print = (line: string) => process.stdout.write(`${line}\n`)

/**
 * Heap sizes in bytes after each 10,000 requests. The first one is the warm state that later
 * ones are compared with.
 */
const heapSamples: number[] = []

// The first engine of a process opens files that remain open for all later engines.
await fuzzEngine({ requests: 1 })
const initialOpenFiles = countOpenFiles()
await fuzzEngine({
  requests,
  onProgress: sent => {
    if (sent === 0 || sent % HEAP_SAMPLE_INTERVAL !== 0) return
    const heapBytes = measureHeap()
    heapSamples.push(heapBytes)
    print(`${sent} requests, ${Math.round(heapBytes / (1 << 20))} MiB of heap`)
  },
})

const data = mkdtempSync(join(tmpdir(), 'eyrie-fuzz-'))
await fuzzOutputConnections(join(data, 'output'), { connections: outputConnections })
print(`${outputConnections} connections to the output`)
await fuzzPictures(join(data, 'pictures'), { requests: pictureRequests })
print(`${pictureRequests} requests for pictures`)
rmSync(data, { recursive: true })

const server = await startDatabaseServer(host => print(`databases run on ${host}`))
try {
  await fuzzManagement({ requests: managementRequests, server })
} finally {
  await server.stop()
}
print(`${managementRequests} requests to management`)
print('every response conforms to the contract')

const failures: string[] = []
const [warmHeap, ...laterHeaps] = heapSamples
const finalHeap = laterHeaps.at(-1)
if (warmHeap === undefined || finalHeap === undefined) {
  print(
    `heap check skipped: it needs more than ${2 * HEAP_SAMPLE_INTERVAL} requests, not ${requests}`,
  )
} else if (finalHeap - warmHeap > MAX_HEAP_GROWTH_BYTES) {
  failures.push(`heap grew by ${finalHeap - warmHeap} bytes, more than ${MAX_HEAP_GROWTH_BYTES}`)
} else {
  print(`heap grew by ${finalHeap - warmHeap} bytes, within the limit of ${MAX_HEAP_GROWTH_BYTES}`)
}
const leakedFiles = countOpenFiles() - initialOpenFiles
if (leakedFiles > 0) failures.push(`${leakedFiles} files were left open`)

for (const failure of failures) process.stderr.write(`${failure}\n`)
if (failures.length > 0) process.exitCode = 1
