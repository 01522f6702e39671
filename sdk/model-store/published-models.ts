import { createHash } from 'node:crypto'
import { findRootMessage } from '@eyrie/client/client-errors'
import { fetchResponsive } from '@eyrie/client/responsive-fetch'
import { COCO_DETECTOR } from './model-labels.ts'
import type { NewModel } from './write-models.ts'

/** A model that can be downloaded from its authors. */
export interface PublishedModel {
  url: string
  /** Hash of the file at `url`, before Eyrie edits it. */
  sha256: string
  about: string
  options: Omit<NewModel, 'name' | 'model'>
}

/**
 * YOLOX models are trained on BGR pixels from 0 to 255. Since release 0.1.1 they
 * need no normalization.
 */
function describeYolox(file: string, sha256: string, about: string): PublishedModel {
  const url = `https://github.com/Megvii-BaseDetection/YOLOX/releases/download/0.1.1rc0/${file}`
  return {
    url,
    sha256,
    about,
    options: {
      ...COCO_DETECTOR,
      head: 'yolox',
      color: 'bgr',
      license: 'Apache-2.0',
      source: url,
    },
  }
}

/** Models with a permissive license that `eyrie model add` can download, by name. */
export const PUBLISHED_MODELS: Readonly<Record<string, PublishedModel>> = {
  'yolox-nano': describeYolox(
    'yolox_nano.onnx',
    'c789161ed43c8269fcd4e67c67eeeb4e80c622da2eb296a20bc6007bd18a0b7d',
    '80 everyday classes, 3.7 MB, fastest',
  ),
  'yolox-tiny': describeYolox(
    'yolox_tiny.onnx',
    '427cc366d34e27ff7a03e2899b5e3671425c262ea2291f88bb942bc1cc70b0f7',
    '80 everyday classes, 20 MB, more accurate',
  ),
}

/**
 * Receives the progress of a download in bytes. `totalBytes` is undefined if the server does
 * not send the length.
 */
export type OnProgress = (receivedBytes: number, totalBytes: number | undefined) => void

/**
 * Downloads a published model. Throws an `Error` if the server is unreachable, the connection
 * is interrupted, or the file has another SHA-256.
 */
export async function download(
  { url, sha256 }: Pick<PublishedModel, 'url' | 'sha256'>,
  onProgress: OnProgress = () => {},
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const response = await fetchResponsive(url, { signal }).catch(error =>
    throwUnreachable(url, error),
  )
  if (!response.ok || !response.body) {
    throw new Error(`${url} answered ${response.status} ${response.statusText}`)
  }

  const totalBytes = Number(response.headers.get('content-length')) || undefined
  const chunks: Uint8Array[] = []
  let receivedBytes = 0
  try {
    for await (const chunk of response.body) {
      chunks.push(chunk)
      receivedBytes += chunk.length
      onProgress(receivedBytes, totalBytes)
    }
  } catch (error) {
    signal?.throwIfAborted()
    throwInterrupted(url, receivedBytes, error as Error)
  }
  const file = Buffer.concat(chunks)
  const actualSha256 = createHash('sha256').update(file).digest('hex')
  if (actualSha256 !== sha256) {
    throw new Error(
      `${url} is not the expected file: its sha256 is ${actualSha256}, expected ${sha256}. Nothing was added`,
    )
  }
  return file
}

function throwInterrupted(url: string, receivedBytes: number, error: Error): never {
  const { message } = (error.cause ?? error) as Error
  throw new Error(
    `the download of ${url} was interrupted after ${receivedBytes} bytes (${message}): try again`,
    { cause: error },
  )
}

function throwUnreachable(url: string, error: Error): never {
  throw new Error(
    `${new URL(url).host} cannot be reached (${findRootMessage(error)}). Without internet access, download ${url} ` +
      'on another machine and add the file with --file',
    { cause: error },
  )
}
