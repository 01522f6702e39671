import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

// Downloads a file: download-file.ts <url> <file>
const [url = '', file = ''] = process.argv.slice(2)
const TIMEOUT_MS = 120_000

try {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!response.ok || !response.body) throw new Error(`the server answered ${response.status}`)
  await pipeline(Readable.fromWeb(response.body), createWriteStream(file))
} catch (error) {
  const { message, cause } = error as Error
  console.error(`failed to download ${url}: ${message}${cause instanceof Error ? `: ${cause.message}` : ''}`)
  process.exit(1)
}
