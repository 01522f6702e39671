import { createHash } from 'node:crypto'
import { type Egress, EgressDeniedError, fetchFrom } from '@eyrie/kit'
import { AwsV4Signer } from 'aws4fetch'

/** Access to a bucket of an S3-compatible storage. */
export interface S3Options {
  /** Address of the storage, without the bucket. */
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  egress: Egress
}

export interface S3Request {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD'
  /** Key of an object; absent for requests to the bucket. */
  key?: string
  query?: Record<string, string>
  body?: Uint8Array
  signal: AbortSignal
}

/** The answer of the storage to a request that succeeded. */
export interface S3Answer {
  headers: Headers
  text: string
}

/**
 * Sends a request with a signature (AWS Signature Version 4). The bucket is in the path, which
 * every S3-compatible storage understands. Throws an `Error` that says what to do if the request
 * fails, or the reason of `signal` if it was aborted.
 */
export type SendToS3 = (request: S3Request) => Promise<S3Answer>

/** Time limit of one request. A part of a large file is sent with one request. */
const REQUEST_TIMEOUT_MS = 300_000
/** Maximum size of a response, which is far more than a list of 1,000 objects has. */
const MAX_RESPONSE_BYTES = 16 << 20
/** Maximum length of an error description of the storage in a message. */
const MAX_REASON_LENGTH = 300

export function createS3Client(options: S3Options): SendToS3 {
  const { endpoint, egress } = options

  return async request => {
    const { method, body, signal } = request
    const signed = await signRequest(request, options)
    // Without a body, PUT and POST would be sent in chunks, which S3 rejects.
    const needsBody = method === 'PUT' || method === 'POST'
    const response = await fetchFrom(egress, signed.url, {
      method,
      headers: Object.fromEntries(signed.headers),
      body: body ?? (needsBody ? '' : undefined),
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
      maxBytes: MAX_RESPONSE_BYTES,
    }).catch(error => {
      signal.throwIfAborted()
      throw explainConnection(error, endpoint)
    })

    const text = await response.text()
    // An error can follow the status 200, because the storage answers before a
    // multipart upload is complete.
    if (!response.ok || text.includes('<Error>')) {
      throw explainAnswer(response.status, text, options)
    }
    return { headers: response.headers, text }
  }
}

/** Returns the URL and the headers of a request. The headers include its signature. */
function signRequest(
  { method, key, query = {}, body = new Uint8Array() }: S3Request,
  { endpoint, region, bucket, accessKeyId, secretAccessKey }: S3Options,
): ReturnType<AwsV4Signer['sign']> {
  const url = new URL(key === undefined ? `/${bucket}` : `/${bucket}/${key}`, endpoint)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  const signer = new AwsV4Signer({
    method,
    url: url.href,
    // The storage rejects a body that was altered on its way.
    headers: { 'x-amz-content-sha256': createHash('sha256').update(body).digest('hex') },
    accessKeyId,
    secretAccessKey,
    region,
    service: 's3',
  })
  return signer.sign()
}

/** Returns an error for a request without an answer. */
function explainConnection(error: unknown, endpoint: string): Error {
  if (error instanceof EgressDeniedError) return error
  const { message, code, name } = error as NodeJS.ErrnoException
  const reason = name === 'TimeoutError' ? 'it does not answer' : (code ?? message)
  return new Error(
    `the storage ${endpoint} cannot be reached (${reason}): check backup_s3_endpoint and the network of the appliance`,
    { cause: error },
  )
}

/** What to do, by the code of an error of S3 (Amazon S3 API Reference, Error Responses). */
const REMEDIES: Record<string, string> = {
  NoSuchBucket: 'create the bucket, or correct backup_s3_bucket',
  InvalidAccessKeyId: 'correct backup_s3_access_key',
  SignatureDoesNotMatch: 'correct backup_s3_secret_key',
  AccessDenied: 'permit the access key to list, read, write and delete objects of the bucket',
  AuthorizationHeaderMalformed: 'correct backup_s3_region',
  RequestTimeTooSkewed: 'correct the clock of the appliance',
  QuotaExceeded: 'raise the quota of the bucket, or lower backup_keep',
  XMinioStorageFull: 'free some space in the storage, or lower backup_keep',
}

/** Returns an error for an answer of the storage, which describes the error in XML. */
function explainAnswer(status: number, text: string, { endpoint, bucket }: S3Options): Error {
  // The answer to a HEAD request has no text.
  const defaultCode = status === 403 ? 'AccessDenied' : ''
  const code = readTag(text, 'Code') ?? defaultCode
  const reason = readTag(text, 'Message') ?? text.slice(0, MAX_REASON_LENGTH)
  const remedy = REMEDIES[code] ?? 'check the settings of the storage'
  const details = [status, code, reason].filter(Boolean).join(' ')
  return new Error(
    `the bucket ${bucket} of ${endpoint} refuses the request (${details}): ${remedy}`,
  )
}

/** The named entities of XML. */
const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

const unescapeXml = (text: string) =>
  // A named entity such as `&lt;`, or a decimal or hexadecimal code point.
  text.replace(/&(?:(\w+)|#(\d+)|#x([\da-f]+));/gi, (whole, name, decimal, hex) => {
    if (name) return ENTITIES[name] ?? whole
    return String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16))
  })

/**
 * Returns the text of the first element with a name. In the answers of S3, elements with text have
 * no attributes and no children.
 */
export function readTag(xml: string, name: string): string | undefined {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? []
  return text === undefined ? undefined : unescapeXml(text)
}
