// @module-tag long

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { createDesiredSource } from '../../../test/fixtures/media/control-client.ts'
import { type ServedMedia, serveMedia } from '../../../test/fixtures/media/served-media.ts'

const PATIENCE = { timeout: 60_000, interval: 100 }
const MIB = 1 << 20
/**
 * Bytes that Linux holds for a connection whose reader has stopped: what the sender queues, and
 * what the receiver does.
 */
const MAX_TCP_BYTES = ['wmem', 'rmem']
  .map(name => Number(readFileSync(`/proc/sys/net/ipv4/tcp_${name}`, 'utf8').split('\t')[2]))
  .reduce((sum, bytes) => sum + bytes)
/**
 * Backlog of a stalled viewer: four MiB in media, some on the way through this process, the
 * rest in TCP buffers.
 */
const MAX_BACKLOG_BYTES = 8 * MIB + MAX_TCP_BYTES
const PRODUCED_BYTES = MAX_BACKLOG_BYTES + 32 * MIB

/** A viewer that can stop reading. */
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
  return {
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    bytes: () => Buffer.concat(parts),
  }
}

async function watchByHttp({ url }: ServedMedia): Promise<Reader> {
  const [answer] = (await once(get(`${url}/streams/1`), 'response')) as [IncomingMessage]
  onTestFinished(() => void answer.destroy())
  const parts: Buffer[] = []
  answer.on('data', part => parts.push(part))
  return {
    pause: () => answer.pause(),
    resume: () => answer.resume(),
    bytes: () => Buffer.concat(parts),
  }
}

interface Fragment {
  /** Byte offset in the stream. */
  offset: number
  sequence: number
  keyframe: boolean
}

/** Parses the complete fragments of a stream. */
function parseFragments(bytes: Buffer): Fragment[] {
  const fragments: Fragment[] = []
  for (let offset = 0; offset + 8 <= bytes.length; offset += bytes.readUInt32BE(offset)) {
    if (bytes.toString('latin1', offset + 4, offset + 8) !== 'moof') continue
    const trun = bytes.indexOf('trun', offset)
    if (trun < 0 || trun + 28 > bytes.length) break
    const nonSync = bytes.readUInt32BE(trun + 24) & 0x10000
    fragments.push({ offset, sequence: bytes.readUInt32BE(offset + 20), keyframe: nonSync === 0 })
  }
  return fragments
}

const findGap = (fragments: Fragment[]) =>
  fragments.find(({ sequence }, n) => n > 0 && sequence !== fragments[n - 1]!.sequence + 1)

describe('live view', () => {
  it.each([
    ['WebSocket', watchBySocket],
    ['HTTP', watchByHttp],
  ])(
    'limits the backlog of a stalled %s viewer, which continues at a keyframe',
    async (_, watch) => {
      const media = await serveMedia()
      const path = join(media.folder, 'noise.mp4')
      const noise = ['-f', 'lavfi', '-i', "nullsrc=s=640x360:r=25:d=2,geq='random(1)*255':128:128"]
      const coded = [
        '-c:v',
        'libx264',
        '-preset',
        'ultrafast',
        '-qp',
        '8',
        '-g',
        '25',
        '-bf',
        '0',
        path,
      ]
      execFileSync('ffmpeg', ['-v', 'error', ...noise, ...coded])
      const control = await media.connectControl()
      await control.apply(createDesiredSource({ id: 1, type: 'inf', url: path }))
      await control.waitForStatus(1, ({ state }) => state === 'running')
      const packets = () => media.readMetric('eyrie_media_packets_total', '{source="1"}')

      const reader = await watch(media)
      await expect.poll(() => parseFragments(reader.bytes()).length, PATIENCE).toBeGreaterThan(10)
      reader.pause()
      const fragments = parseFragments(reader.bytes()).length
      const bytes = reader.bytes().length
      const before = await packets()
      await expect
        .poll(async () => ((await packets()) - before) * (bytes / fragments), PATIENCE)
        .toBeGreaterThan(PRODUCED_BYTES)
      reader.resume()

      await expect.poll(() => findGap(parseFragments(reader.bytes())), PATIENCE).toBeDefined()
      const gap = findGap(parseFragments(reader.bytes()))!
      expect(gap.keyframe).toBe(true)
      expect(gap.offset - bytes).toBeLessThan(MAX_BACKLOG_BYTES)
    },
    240_000,
  )
})
