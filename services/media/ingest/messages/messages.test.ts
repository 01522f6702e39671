import { join } from 'node:path'
import { minimalView } from '@eyrie/contract/view'
import { describe, expect, it } from 'vitest'
import { createTurnableClock } from '../../../../test/fixtures/clock.ts'
import { type ControlClient, view, wantSource } from '../../../../test/fixtures/control.ts'
import { freePort } from '../../../../test/fixtures/free-ports.ts'
import { headerOf, makeJpeg, publish } from '../../../../test/fixtures/publisher.ts'
import { serveMedia } from '../../../../test/fixtures/serve-media.ts'
import { temporaryFolder } from '../../../../test/fixtures/temporary.ts'
import { RingReader } from '../../../engine/frames/ring-reader.ts'
import type { Clock } from '../../runtime/clock.ts'

const SIZE = { width: 64, height: 48 }
const grey = view({ format: 'GRAY8' })
const person = { class: 'person', score: 0.5, bbox: { x: 0, y: 0, w: 0.5, h: 0.5 } }

const endpointIn = (folder: string) => `ipc://${join(folder, 'frames.sock')}`

async function follow(url: string, clock?: Clock): Promise<ControlClient> {
  const media = await serveMedia({ clock })
  const control = await media.control()
  await control.apply(wantSource({ id: 1, type: 'zmq', url, views: { grey } }))
  return control
}

/** What the ring holds of the frame that was told of last. */
async function newest(control: ControlClient, key = 'grey') {
  const { n, pts } = await control.next('frame', frame => frame.view === key)
  const { path } = control.messages.findLast(each => each.type === 'view' && each.view === key) as {
    path: string
  }
  const ring = new RingReader(path)
  const pixels = new Uint8Array(ring.shape.payloadSize)
  const stamp = ring.read(n, pixels)
  ring.close()
  return { n, pts, stamp, pixels, shape: ring.shape }
}

const state = (control: ControlClient, wanted: string) => control.status(1, status => status.state === wanted)

describe('a source of messages', () => {
  it('shows the JPEG pictures of a sender that comes later, in a time of its own', async () => {
    const endpoint = endpointIn(temporaryFolder())
    const control = await follow(endpoint)
    expect((await state(control, 'connecting')).reason).toContain('has sent nothing yet')
    const payload = makeJpeg(SIZE)
    await publish(endpoint, seq => ({
      header: headerOf(seq, { format: 'JPEG', objects: [person] }),
      payload,
    }))
    expect(await state(control, 'running')).toMatchObject({ ...SIZE, codec: 'jpeg' })
    const first = await newest(control)
    expect(first.shape).toMatchObject({ sourceWidth: 64, sourceHeight: 48 })
    expect(first.pixels.every(value => value > 220)).toBe(true)
    const later = await newest(control)
    expect((later.pts - first.pts) % 1800).toBe(0)
    expect(later.pts).toBeLessThan(1_000_000)
  })

  it('tells what the sender has found, ahead of the frame and with the time at which it was taken', async () => {
    const endpoint = endpointIn(temporaryFolder())
    const control = await follow(endpoint)
    const payload = makeJpeg(SIZE)
    const events = [{ type: 'line-crossing', name: 'door' }]
    await publish(endpoint, seq => ({
      header: headerOf(seq, { format: 'JPEG', objects: [person], events }),
      payload,
    }))
    const { pts } = await control.message('frame')
    const told = control.messages.findIndex(each => each.type === 'findings' && each.pts === pts)
    expect(told).toBeGreaterThan(-1)
    expect(told).toBeLessThan(control.messages.findIndex(({ type }) => type === 'frame'))
    expect(control.messages[told]).toMatchObject({ objects: [person], events })
    const year = new Date((control.messages[told] as { time: number }).time / 1000).getUTCFullYear()
    expect(year).toBe(2030)
  })

  it.each([
    ['RGB', 63, 3],
    ['GRAY8', 62, 1],
  ] as const)('shows raw pictures in %s, whatever their width', async (format, width, bytesPerPixel) => {
    const endpoint = endpointIn(temporaryFolder())
    const control = await follow(endpoint)
    // White but for the first of each row.
    const payload = new Uint8Array(width * 48 * bytesPerPixel).map((_, i) =>
      i % (width * bytesPerPixel) < bytesPerPixel ? 0 : 255,
    )
    await publish(endpoint, seq => ({ header: headerOf(seq, { format, width }), payload }))
    const { pixels, shape } = await newest(control)
    expect(shape).toMatchObject({ width, height: 48 })
    const columns = Array.from({ length: width }, (_, x) => pixels[10 * width + x]! > 128)
    expect(columns).toEqual(columns.map((_, x) => x > 0))
  })

  it('without pictures has frames for those who look at none, and says so to the others', async () => {
    const endpoint = endpointIn(temporaryFolder())
    const media = await serveMedia()
    const control = await media.control()
    const views = { grey, tick: minimalView }
    await control.apply(wantSource({ id: 1, type: 'zmq', url: endpoint, views }))
    await publish(endpoint, seq => ({
      header: headerOf(seq, { width: 1920, height: 1080, objects: [person] }),
    }))
    const failed = await control.message('view-failed', ({ view }) => view === 'grey')
    expect(failed.reason).toContain('sends no pictures: let its sink send payload=jpeg')
    const { shape, stamp } = await newest(control, 'tick')
    expect(shape).toMatchObject({ sourceWidth: 1920, sourceHeight: 1080 })
    expect(stamp).toMatchObject({ width: 1920 })
  })

  it('takes a missing picture for what it is', async () => {
    const endpoint = endpointIn(temporaryFolder())
    const control = await follow(endpoint)
    const payload = makeJpeg(SIZE)
    await publish(endpoint, seq =>
      seq % 5 === 0
        ? { header: headerOf(seq, { events: [{ type: 'missed' }] }) }
        : { header: headerOf(seq, { format: 'JPEG' }), payload },
    )
    await control.message('findings', ({ events }) => events[0]?.type === 'missed')
    await newest(control)
    await newest(control)
    expect(control.messages.some(({ type }) => type === 'view-failed')).toBe(false)
  })

  it('goes on, in time and number, when the sender was started anew or sends another size', async () => {
    const endpoint = endpointIn(temporaryFolder())
    const control = await follow(endpoint)
    const small = makeJpeg(SIZE)
    const sender = await publish(endpoint, seq => ({
      header: headerOf(seq, { format: 'JPEG' }),
      payload: small,
    }))
    const before = await newest(control)
    await sender.stop()
    const large = makeJpeg({ width: 128, height: 96 })
    const header = (seq: number) => ({ ...headerOf(seq, { format: 'JPEG' }), pts: seq * 1800 })
    await publish(endpoint, seq => ({ header: header(seq), payload: large }))
    await control.status(1, ({ width }) => width === 128)
    await control.next('view')
    const after = await newest(control)
    expect(after.n).toBeGreaterThan(before.n)
    expect(after.pts).toBeGreaterThan(before.pts)
    expect(control.messages.filter(each => each.type === 'findings' && each.discontinuity)).toHaveLength(2)
  })

  it('passes over what is no message, and says what is wrong with it', async () => {
    const endpoint = endpointIn(temporaryFolder())
    const control = await follow(endpoint)
    const payload = makeJpeg(SIZE)
    const broken = Buffer.from(payload).fill(0, 700)
    const garbage = [
      { header: 'nonsense', payload },
      { header: { v: 2 }, payload },
      { header: headerOf(1, { format: 'JPEG' }), payload: Buffer.from('no picture') },
      { header: headerOf(1, { format: 'RGB' }), payload: new Uint8Array(7) },
      { header: headerOf(1, { format: null }), payload },
      { header: headerOf(1, { format: 'JPEG' }), payload: Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0]) },
    ]
    await publish(endpoint, seq => {
      if (seq % 3 === 1) return garbage[((seq / 3) % garbage.length) | 0]!
      return { header: headerOf(seq, { format: 'JPEG' }), payload: seq % 3 === 2 ? broken : payload }
    })
    const { reason } = await control.status(1, ({ reason }) =>
      /messages could not be read/.test(reason ?? ''),
    )
    expect(reason).toMatch(/^\d+ messages could not be read, the last since its (header|payload)/)
    for (let i = 0; i < 10; i++) await newest(control)
  })

  it('complains of messages that cannot be read, and of other topics, only as long as they come', async () => {
    const endpoint = endpointIn(temporaryFolder())
    const clock = createTurnableClock()
    const control = await follow(`${endpoint}?topic=1`, clock)
    let sent: 'nonsense' | 'others' | 'nothing else' = 'nonsense'
    await publish(endpoint, seq => {
      if (sent === 'nonsense' && seq % 2 === 0) return { header: 'nonsense' }
      return { header: headerOf(seq), topic: sent === 'others' && seq % 2 === 0 ? '12' : '1' }
    })
    const reasonOf = (text: string) => control.status(1, ({ reason }) => reason?.includes(text) === true)
    /** A minute passes after what was sent before has arrived. */
    const minute = async (from: typeof sent) => {
      sent = from
      for (let i = 0; i < 10; i++) await control.next('findings')
      clock.advance(60_000)
    }
    await reasonOf('messages could not be read, the last since its header is no JSON')
    await minute('others')
    await reasonOf('there are other topics too (12)')
    await minute('nothing else')
    for (let i = 0; i < 10; i++) await control.next('findings')
    const { state, reason } = await control.status(1, () => true)
    expect({ state, reason }).toEqual({ state: 'running', reason: undefined })
  })

  it('says what is wrong with all that comes, and afterwards that nothing of it could be read', async () => {
    const endpoint = endpointIn(temporaryFolder())
    const clock = createTurnableClock()
    const control = await follow(endpoint, clock)
    const sender = await publish(endpoint, () => ({ header: 'nonsense' }))
    const reasonOf = (text: string) => control.status(1, ({ reason }) => reason?.includes(text) === true)
    await reasonOf('messages could not be read')
    await sender.stop()
    clock.advance(60_000)
    const { state } = await reasonOf('has sent nothing that can be read')
    expect(state).toBe('connecting')
    const good = await publish(endpoint, seq => ({ header: headerOf(seq) }))
    await control.status(1, ({ state, reason }) => state === 'running' && reason === undefined)
    await good.stop()
    await publish(endpoint, () => ({ header: 'nonsense' }))
    await control.status(
      1,
      ({ state, reason = '' }) => state === 'reconnecting' && /could not be read/.test(reason),
    )
  })

  it('follows one channel of a sender, the one that was chosen', async () => {
    const endpoint = endpointIn(temporaryFolder())
    const control = await follow(`${endpoint}?topic=gate/1`)
    const topics = ['gate/11', 'gate/1', 'door/1']
    const messageOf = (seq: number) => {
      const topic = topics[seq % 3]!
      return { topic, header: headerOf(seq, { events: [{ type: topic }] }) }
    }
    await publish(endpoint, messageOf)
    await control.next('findings', ({ events }) => events[0]?.type === 'gate/1')
    const since = control.messages.length
    for (let i = 0; i < 5; i++) await control.next('findings')
    const heard = control.messages.slice(since).flatMap(each => (each.type === 'findings' ? each.events : []))
    expect(new Set(heard.map(({ type }) => type))).toEqual(new Set(['gate/1']))
    await control.status(1, ({ reason }) => reason?.includes('gate/11') === true)
  })

  it('says that the sender has fallen silent', async () => {
    const endpoint = endpointIn(temporaryFolder())
    const control = await follow(endpoint)
    const sender = await publish(endpoint, seq => ({ header: headerOf(seq) }))
    await state(control, 'running')
    await sender.stop()
    expect((await state(control, 'reconnecting')).reason).toContain('has sent nothing for 5 s')
  })

  it('may be the one that senders come to', async () => {
    const port = await freePort()
    const control = await follow(`tcp://127.0.0.1:${port}?bind=true`)
    const payload = makeJpeg(SIZE)
    await publish(
      `tcp://127.0.0.1:${port}`,
      seq => ({ header: headerOf(seq, { format: 'JPEG' }), payload }),
      {
        bind: false,
      },
    )
    await newest(control)
  })
})
