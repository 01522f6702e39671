import { createHash } from 'node:crypto'
import type { PublishedModel } from './published.ts'

/** Called as bytes arrive; `total` is undefined where the server does not say. */
export type OnProgress = (received: number, total: number | undefined) => void

/** Fetches a published model. Throws if it cannot be reached or is not the file that is known. */
export async function download(
  { url, sha256 }: Pick<PublishedModel, 'url' | 'sha256'>,
  onProgress: OnProgress = () => {},
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const response = await fetch(url, { signal }).catch(error => unreachable(url, error))
  if (!response.ok || !response.body)
    throw new Error(`${url} answers ${response.status} ${response.statusText}`)

  const length = Number(response.headers.get('content-length'))
  const chunks: Uint8Array[] = []
  let received = 0
  for await (const chunk of response.body) {
    chunks.push(chunk)
    received += chunk.length
    onProgress(received, length || undefined)
  }
  const bytes = Buffer.concat(chunks)
  const found = createHash('sha256').update(bytes).digest('hex')
  if (found !== sha256)
    throw new Error(
      `${url} is not the known file: its sha256 is ${found}, it should be ${sha256}. Nothing was added`,
    )
  return bytes
}

function unreachable(url: string, error: Error): never {
  const { cause } = error as { cause?: { code?: string } }
  throw new Error(
    `${new URL(url).host} cannot be reached (${cause?.code ?? error.message}). Without the internet, fetch ${url} ` +
      'elsewhere and add it with --file',
    { cause: error },
  )
}
