import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { errorBody } from '@eyrie/contract'
import fc from 'fast-check'
import { createPictureStore } from '../../services/engine/pictures/picture-store.ts'
import { startEngine } from '../fixtures/engine/engine.ts'

const MAX_STORE_BYTES = 1 << 20
const jpegs = ['first', 'second'].map(text => Buffer.from(text))
const storedNames = jpegs.map(jpeg => createHash('sha256').update(jpeg).digest('hex'))

interface PictureRequest {
  method: string
  name: string
  ifNoneMatch: string | null
}

const request: fc.Arbitrary<PictureRequest> = fc.record({
  method: fc.oneof(
    { weight: 8, arbitrary: fc.constant('GET') },
    fc.constantFrom('HEAD', 'POST', 'PUT', 'DELETE'),
  ),
  name: fc.oneof(
    fc.constantFrom(...storedNames),
    fc.stringMatching(/^[0-9a-f]{64}$/),
    fc.constantFrom(...storedNames).map(name => name.toUpperCase()),
    fc.constantFrom(...storedNames).chain(name => fc.nat(63).map(end => name.slice(0, end + 1))),
    fc.constantFrom('..', '%2e%2e%2factivation.json', '%00', '%', 'a%2Fb', ''),
    fc.string({ maxLength: 80 }).map(encodeURIComponent),
  ),
  ifNoneMatch: fc.option(fc.constantFrom('*', '"other"')),
})

/**
 * Requests stored pictures, which must come back unchanged, and others, which must be
 * answered with an error.
 */
export async function fuzzPictures(
  data: string,
  { requests, seed }: { requests: number; seed?: number },
) {
  const store = createPictureStore(join(data, 'engine', 'pictures'), MAX_STORE_BYTES)
  await store.open()
  for (const jpeg of jpegs) await store.save(jpeg)
  const { engine } = await startEngine(data)
  try {
    await fc.assert(
      fc.asyncProperty(request, async ({ method, name, ifNoneMatch }) => {
        const headers: Record<string, string> =
          ifNoneMatch === null ? {} : { 'If-None-Match': ifNoneMatch }
        const response = await engine.app.request(`/api/v3/pictures/${name}`, { method, headers })
        const body = Buffer.from(await response.arrayBuffer())
        const violation = findViolation({ method, name, ifNoneMatch }, response, body)
        if (violation) {
          throw new Error(`${method} /pictures/${name}: ${response.status}, ${violation}`)
        }
      }),
      { numRuns: requests, seed },
    )
  } finally {
    await engine.stop()
  }
}

/** Describes what is wrong with a response; undefined when it is correct. */
function findViolation(
  { method, name, ifNoneMatch }: PictureRequest,
  response: Response,
  body: Buffer,
): string | undefined {
  const { status } = response
  const isRead = method === 'GET' || method === 'HEAD'
  if (isRead && storedNames.includes(name)) {
    if (status === 304) {
      if (ifNoneMatch !== '*') return 'not modified without a matching If-None-Match'
      return body.length === 0 ? undefined : 'not modified, but with a body'
    }
    if (status !== 200 || response.headers.get('Content-Type') !== 'image/jpeg') {
      return 'picture is stored but was not returned as JPEG'
    }
    const expected = method === 'HEAD' ? Buffer.alloc(0) : jpegs[storedNames.indexOf(name)]!
    return body.equals(expected) ? undefined : 'content differs from the stored picture'
  }
  if (status !== 404 && status !== 405) return 'expected 404 or 405: no such picture is stored'
  if (method === 'HEAD') return body.length === 0 ? undefined : 'HEAD with a body'
  return errorBody.safeParse(JSON.parse(String(body))).success
    ? undefined
    : `invalid error body: ${body}`
}
