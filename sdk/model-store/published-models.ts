import { createHash } from 'node:crypto'
import { cocoLabels, cocoSuppressTogether } from './model-labels.ts'
import type { NewModel } from './write-models.ts'

/** A model that can be downloaded from its authors. */
export interface PublishedModel {
  url: string
  /** Hash of the file at `url`, before Eyrie edits it. */
  sha256: string
  about: string
  options: Omit<NewModel, 'name' | 'model'>
}

/** YOLOX expects BGR pixels from 0 to 255. Releases since 0.1.1 need no normalisation. */
const createYolox = (file: string, sha256: string, about: string): PublishedModel => {
  const url = `https://github.com/Megvii-BaseDetection/YOLOX/releases/download/0.1.1rc0/${file}`
  return {
    url,
    sha256,
    about,
    options: {
      head: 'yolox',
      labels: [...cocoLabels],
      color: 'bgr',
      suppress_together: cocoSuppressTogether,
      license: 'Apache-2.0',
      source: url,
    },
  }
}

/** Models with a permissive license, by the name under which they are added. */
export const publishedModels: Readonly<Record<string, PublishedModel>> = {
  'yolox-nano': createYolox(
    'yolox_nano.onnx',
    'c789161ed43c8269fcd4e67c67eeeb4e80c622da2eb296a20bc6007bd18a0b7d',
    '80 everyday classes, 3.7 MB, fastest',
  ),
  'yolox-tiny': createYolox(
    'yolox_tiny.onnx',
    '427cc366d34e27ff7a03e2899b5e3671425c262ea2291f88bb942bc1cc70b0f7',
    '80 everyday classes, 20 MB, more accurate',
  ),
}

/** Called with the number of bytes received; `total` is undefined if the server does not send the length. */
export type OnProgress = (received: number, total: number | undefined) => void

/** Downloads a published model. Throws an `Error` if the server is unreachable or the hash of the file differs. */
export async function download(
  { url, sha256 }: Pick<PublishedModel, 'url' | 'sha256'>,
  onProgress: OnProgress = () => {},
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const response = await fetch(url, { signal }).catch(error => throwUnreachable(url, error))
  if (!response.ok || !response.body)
    throw new Error(`${url} answered ${response.status} ${response.statusText}`)

  const length = Number(response.headers.get('content-length'))
  const chunks: Uint8Array[] = []
  let received = 0
  for await (const chunk of response.body) {
    chunks.push(chunk)
    received += chunk.length
    onProgress(received, length || undefined)
  }
  const bytes = Buffer.concat(chunks)
  const actual = createHash('sha256').update(bytes).digest('hex')
  if (actual !== sha256)
    throw new Error(
      `${url} is not the expected file: its sha256 is ${actual}, expected ${sha256}. Nothing was added`,
    )
  return bytes
}

function throwUnreachable(url: string, error: Error): never {
  const { cause } = error as { cause?: { code?: string } }
  throw new Error(
    `${new URL(url).host} cannot be reached (${cause?.code ?? error.message}). Without internet access, download ${url} ` +
      'on another machine and add the file with --file',
    { cause: error },
  )
}
