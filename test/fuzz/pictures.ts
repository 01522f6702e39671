import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { errorBody } from '@eyrie/contract'
import fc from 'fast-check'
import { createPictureStore } from '../../services/engine/pictures/picture-store.ts'
import { startEngine } from '../fixtures/engine.ts'

const ROOM_BYTES = 1 << 20
const jpegs = ['first', 'second'].map(text => Buffer.from(text))
const kept = jpegs.map(jpeg => createHash('sha256').update(jpeg).digest('hex'))

const request = fc.record({
  method: fc.oneof(
    { weight: 8, arbitrary: fc.constant('GET') },
    fc.constantFrom('HEAD', 'POST', 'PUT', 'DELETE'),
  ),
  name: fc.oneof(
    fc.constantFrom(...kept),
    fc.stringMatching(/^[0-9a-f]{64}$/),
    fc.constantFrom(...kept).map(name => name.toUpperCase()),
    fc.constantFrom(...kept).chain(name => fc.nat(63).map(end => name.slice(0, end + 1))),
    fc.constantFrom('..', '%2e%2e%2factivation.json', '%00', '%', 'a%2Fb', ''),
    fc.string({ maxLength: 80 }).map(encodeURIComponent),
  ),
  type: fc.option(fc.constantFrom('*', '"other"')),
})

/** Asks for pictures that are kept and for others: the first come as they were kept, of the rest nothing is to be had. */
export async function fuzzPictures(data: string, { requests, seed }: { requests: number; seed?: number }) {
  const store = createPictureStore(join(data, 'engine', 'pictures'), ROOM_BYTES)
  await store.open()
  for (const jpeg of jpegs) await store.save(jpeg)
  const { engine } = await startEngine(data)
  try {
    await fc.assert(
      fc.asyncProperty(request, async ({ method, name, type }) => {
        const headers: Record<string, string> = type === null ? {} : { 'If-None-Match': type }
        const response = await engine.app.request(`/api/v3/pictures/${name}`, { method, headers })
        const body = Buffer.from(await response.arrayBuffer())
        const fault = faultOf(method, name, response, body)
        if (fault) throw new Error(`${method} /pictures/${name}: ${response.status}, ${fault}`)
      }),
      { numRuns: requests, seed },
    )
  } finally {
    await engine.stop()
  }
}

function faultOf(method: string, name: string, response: Response, body: Buffer): string | undefined {
  const { status } = response
  const isRead = method === 'GET' || method === 'HEAD'
  if (isRead && kept.includes(name)) {
    if (status === 304) return body.length === 0 ? undefined : 'not modified, and yet a body'
    if (status !== 200 || response.headers.get('Content-Type') !== 'image/jpeg') return 'is kept'
    const expected = method === 'HEAD' ? Buffer.alloc(0) : jpegs[kept.indexOf(name)]!
    return body.equals(expected) ? undefined : 'has changed'
  }
  if (status !== 404 && status !== 405) return 'is not there'
  if (method === 'HEAD') return body.length === 0 ? undefined : 'HEAD with a body'
  return errorBody.safeParse(JSON.parse(String(body))).success ? undefined : `no error body: ${body}`
}
