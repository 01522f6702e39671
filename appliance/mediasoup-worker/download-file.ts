import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

// Downloads a file. Called by obtain.sh: download-file.ts <url> <file>

const TIMEOUT_MS = 120_000
const [url = '', file = ''] = process.argv.slice(2)

try {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!response.ok || !response.body) {
    throw new Error(`the server responded with status ${response.status}`)
  }
  await pipeline(Readable.fromWeb(response.body), createWriteStream(file))
} catch (error) {
  const { message, cause } = error as Error
  const reason = cause instanceof Error ? `${message}: ${cause.message}` : message
  console.error(`failed to download ${url}: ${reason}`)
  process.exit(1)
}
