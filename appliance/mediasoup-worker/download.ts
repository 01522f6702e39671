import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

const [url = '', file = ''] = process.argv.slice(2)
const LIMIT_MS = 120_000

try {
  const answer = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS) })
  if (!answer.ok || !answer.body) throw new Error(`answered ${answer.status}`)
  await pipeline(Readable.fromWeb(answer.body), createWriteStream(file))
} catch (error) {
  const { message, cause } = error as Error
  console.error(`${url}: ${message}${cause instanceof Error ? `: ${cause.message}` : ''}`)
  process.exit(1)
}
