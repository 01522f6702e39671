import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { wantSource } from '../../../test/fixtures/control.ts'
import { type ServedMedia, serveMedia } from '../../../test/fixtures/serve-media.ts'

const PATIENCE = { timeout: 25_000, interval: 100 }
const MIB = 1 << 20
/** What one that does not read may have before him: four MiB of media's, the rest in the buffers of TCP. */
const MOST_BYTES = 24 * MIB
const PRODUCED_BYTES = 64 * MIB

/** Somebody who may stop reading. */
interface Reader {
  pause(): void
  resume(): void
  bytes(): Buffer
}

async function watchBySocket({ url }: ServedMedia): Promise<Reader> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/streams/1/ws`)
  onTestFinished(() => socket.terminate())
  const parts: Buffer[] = []
  socket.on('message', (data, isBinary) => isBinary && parts.push(data as Buffer))
  await once(socket, 'open')
  return { pause: () => socket.pause(), resume: () => socket.resume(), bytes: () => Buffer.concat(parts) }
}

async function watchByHttp({ url }: ServedMedia): Promise<Reader> {
  const [answer] = (await once(get(`${url}/streams/1`), 'response')) as [IncomingMessage]
  onTestFinished(() => void answer.destroy())
  const parts: Buffer[] = []
  answer.on('data', part => parts.push(part))
  return { pause: () => answer.pause(), resume: () => answer.resume(), bytes: () => Buffer.concat(parts) }
}

interface Fragment {
  /** Where in the stream of bytes. */
  at: number
  sequence: number
  keyframe: boolean
}

/** The fragments of a stream of boxes, up to where it is cut off. */
function fragmentsIn(bytes: Buffer): Fragment[] {
  const fragments: Fragment[] = []
  for (let at = 0; at + 8 <= bytes.length; at += bytes.readUInt32BE(at)) {
    if (bytes.toString('latin1', at + 4, at + 8) !== 'moof') continue
    const trun = bytes.indexOf('trun', at)
    if (trun < 0 || trun + 28 > bytes.length) break
    const nonSync = bytes.readUInt32BE(trun + 24) & 0x10000
    fragments.push({ at, sequence: bytes.readUInt32BE(at + 20), keyframe: nonSync === 0 })
  }
  return fragments
}

const jumpIn = (fragments: Fragment[]) =>
  fragments.find(({ sequence }, n) => n > 0 && sequence !== fragments[n - 1]!.sequence + 1)

test.each([
  ['WebSocket', watchBySocket],
  ['HTTP', watchByHttp],
])(
  'who does not read over %s is kept little for, and goes on at a keyframe',
  async (_, watch) => {
    const media = await serveMedia()
    const path = join(media.folder, 'noise.mp4')
    const noise = ['-f', 'lavfi', '-i', "nullsrc=s=640x360:r=25:d=2,geq='random(1)*255':128:128"]
    const coded = ['-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '8', '-g', '25', '-bf', '0', path]
    execFileSync('ffmpeg', ['-v', 'error', ...noise, ...coded])
    const control = await media.control()
    await control.apply(wantSource({ id: 1, type: 'inf', url: path }))
    await control.status(1, ({ state }) => state === 'running')
    const packets = () => media.metric('eyrie_media_packets_total', '{source="1"}')

    const reader = await watch(media)
    await expect.poll(() => fragmentsIn(reader.bytes()).length, PATIENCE).toBeGreaterThan(10)
    reader.pause()
    const [seen, bytes, before] = [fragmentsIn(reader.bytes()).length, reader.bytes().length, await packets()]
    await expect
      .poll(async () => ((await packets()) - before) * (bytes / seen), PATIENCE)
      .toBeGreaterThan(PRODUCED_BYTES)
    reader.resume()

    await expect.poll(() => jumpIn(fragmentsIn(reader.bytes())), PATIENCE).toBeDefined()
    const jump = jumpIn(fragmentsIn(reader.bytes()))!
    expect(jump.keyframe).toBe(true)
    expect(jump.at - bytes).toBeLessThan(MOST_BYTES)
  },
  60_000,
)
