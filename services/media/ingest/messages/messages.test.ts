import { join } from 'node:path'
import { MINIMAL_VIEW } from '@eyrie/contract/view'
import { describe, expect, it } from 'vitest'
import { createAdjustableClock } from '../../../../test/fixtures/manual-clock.ts'
import {
  type ControlClient,
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { findFreePort } from '../../../../test/fixtures/network/free-ports.ts'
import {
  createJpeg,
  createMessageHeader,
  startPublisher,
} from '../../../../test/fixtures/network/zeromq-publisher.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { RingReader } from '../../../engine/frames/ring-reader.ts'
import type { Clock } from '../../runtime/clock.ts'

const SIZE = { width: 64, height: 48 }
const grey = createViewSpec({ format: 'GRAY8' })
const person = { class: 'person', score: 0.5, bbox: { x: 0, y: 0, w: 0.5, h: 0.5 } }

const endpointIn = (folder: string) => `ipc://${join(folder, 'frames.sock')}`

async function follow(url: string, clock?: Clock): Promise<ControlClient> {
  const media = await serveMedia({ clock })
  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: 1, type: 'zmq', url, views: { grey } }))
  return control
}

/** Reads the last announced frame from the ring. */
async function newest(control: ControlClient, key = 'grey') {
  const { n, pts } = await control.waitForNextMessage('frame', frame => frame.view === key)
  const { path } = control.messages.findLast(each => each.type === 'view' && each.view === key) as {
    path: string
  }
  const ring = new RingReader(path)
  const pixels = new Uint8Array(ring.shape.payloadSize)
  const stamp = ring.read(n, pixels)
  ring.close()
  return { n, pts, stamp, pixels, shape: ring.shape }
}

const state = (control: ControlClient, expected: string) =>
  control.waitForStatus(1, status => status.state === expected)

describe('message source', () => {
  it('shows the JPEG pictures of a sender that starts later, in its own stream time', async () => {
    const endpoint = endpointIn(createTemporaryFolder())
    const control = await follow(endpoint)
    expect((await state(control, 'connecting')).reason).toContain('has sent nothing yet')
    const payload = createJpeg(SIZE)
    await startPublisher(endpoint, seq => ({
      header: createMessageHeader(seq, { format: 'JPEG', objects: [person] }),
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

  it('reports the findings of the sender before the frame, with its capture time', async () => {
    const endpoint = endpointIn(createTemporaryFolder())
    const control = await follow(endpoint)
    const payload = createJpeg(SIZE)
    const events = [{ type: 'line-crossing', name: 'door' }]
    await startPublisher(endpoint, seq => ({
      header: createMessageHeader(seq, { format: 'JPEG', objects: [person], events }),
      payload,
    }))
    const { pts } = await control.message('frame')
    const findingsAt = control.messages.findIndex(
      each => each.type === 'findings' && each.pts === pts,
    )
    expect(findingsAt).toBeGreaterThan(-1)
    expect(findingsAt).toBeLessThan(control.messages.findIndex(({ type }) => type === 'frame'))
    expect(control.messages[findingsAt]).toMatchObject({ objects: [person], events })
    const year = new Date(
      (control.messages[findingsAt] as { time: number }).time / 1000,
    ).getUTCFullYear()
    expect(year).toBe(2030)
  })

  it.each([
    ['RGB', 63, 3],
    ['GRAY8', 62, 1],
  ] as const)(
    'shows raw pictures in %s with unaligned rows',
    async (format, width, bytesPerPixel) => {
      const endpoint = endpointIn(createTemporaryFolder())
      const control = await follow(endpoint)
      // White except for the first pixel of each row.
      const payload = new Uint8Array(width * 48 * bytesPerPixel).map((_, i) =>
        i % (width * bytesPerPixel) < bytesPerPixel ? 0 : 255,
      )
      await startPublisher(endpoint, seq => ({
        header: createMessageHeader(seq, { format, width }),
        payload,
      }))
      const { pixels, shape } = await newest(control)
      expect(shape).toMatchObject({ width, height: 48 })
      const columns = Array.from({ length: width }, (_, x) => pixels[10 * width + x]! > 128)
      expect(columns).toEqual(columns.map((_, x) => x > 0))
    },
  )

  it('without pictures provides the minimal view, and fails others with a reason', async () => {
    const endpoint = endpointIn(createTemporaryFolder())
    const media = await serveMedia()
    const control = await media.connectControl()
    const views = { grey, tick: MINIMAL_VIEW }
    await control.apply(createDesiredSource({ id: 1, type: 'zmq', url: endpoint, views }))
    await startPublisher(endpoint, seq => ({
      header: createMessageHeader(seq, { width: 1920, height: 1080, objects: [person] }),
    }))
    const failed = await control.message('view-failed', ({ view }) => view === 'grey')
    expect(failed.reason).toContain('sends no pictures: set payload=jpeg on its sink')
    const { shape, stamp } = await newest(control, 'tick')
    expect(shape).toMatchObject({ sourceWidth: 1920, sourceHeight: 1080 })
    expect(stamp).toMatchObject({ width: 1920 })
  })

  it('tolerates a few messages without a picture', async () => {
    const endpoint = endpointIn(createTemporaryFolder())
    const control = await follow(endpoint)
    const payload = createJpeg(SIZE)
    await startPublisher(endpoint, seq =>
      seq % 5 === 0
        ? { header: createMessageHeader(seq, { events: [{ type: 'missed' }] }) }
        : { header: createMessageHeader(seq, { format: 'JPEG' }), payload },
    )
    await control.message('findings', ({ events }) => events[0]?.type === 'missed')
    await newest(control)
    await newest(control)
    expect(control.messages.some(({ type }) => type === 'view-failed')).toBe(false)
  })

  it('continues stream time and frame numbers after a restart of the sender or a new picture size', async () => {
    const endpoint = endpointIn(createTemporaryFolder())
    const control = await follow(endpoint)
    const small = createJpeg(SIZE)
    const sender = await startPublisher(endpoint, seq => ({
      header: createMessageHeader(seq, { format: 'JPEG' }),
      payload: small,
    }))
    const before = await newest(control)
    const smallView = await control.message('view')
    await sender.stop()
    const large = createJpeg({ width: 128, height: 96 })
    const header = (seq: number) => ({
      ...createMessageHeader(seq, { format: 'JPEG' }),
      pts: seq * 1800,
    })
    await startPublisher(endpoint, seq => ({ header: header(seq), payload: large }))
    await control.waitForStatus(1, ({ width }) => width === 128)
    await control.message('view', ({ generation }) => generation !== smallView.generation)
    const after = await newest(control)
    expect(after.n).toBeGreaterThan(before.n)
    expect(after.pts).toBeGreaterThan(before.pts)
    expect(
      control.messages.filter(each => each.type === 'findings' && each.discontinuity),
    ).toHaveLength(2)
  })

  it('skips invalid messages and reports what is wrong with them', async () => {
    const endpoint = endpointIn(createTemporaryFolder())
    const control = await follow(endpoint)
    const payload = createJpeg(SIZE)
    const broken = Buffer.from(payload).fill(0, 700)
    const garbage = [
      { header: 'nonsense', payload },
      { header: { v: 2 }, payload },
      { header: createMessageHeader(1, { format: 'JPEG' }), payload: Buffer.from('no picture') },
      { header: createMessageHeader(1, { format: 'RGB' }), payload: new Uint8Array(7) },
      { header: createMessageHeader(1, { format: null }), payload },
      {
        header: createMessageHeader(1, { format: 'JPEG' }),
        payload: Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0]),
      },
    ]
    await startPublisher(endpoint, seq => {
      if (seq % 3 === 1) return garbage[((seq / 3) % garbage.length) | 0]!
      return {
        header: createMessageHeader(seq, { format: 'JPEG' }),
        payload: seq % 3 === 2 ? broken : payload,
      }
    })
    const { reason } = await control.waitForStatus(1, ({ reason }) =>
      /messages could not be read/.test(reason ?? ''),
    )
    expect(reason).toMatch(
      /^\d+ messages could not be read; the last one because its (header|payload)/,
    )
    for (let i = 0; i < 10; i++) await newest(control)
  })

  it('reports invalid messages and other topics only while they are recent', async () => {
    const endpoint = endpointIn(createTemporaryFolder())
    const clock = createAdjustableClock()
    const control = await follow(`${endpoint}?topic=1`, clock)
    let sent: 'nonsense' | 'others' | 'nothing else' = 'nonsense'
    await startPublisher(endpoint, seq => {
      if (sent === 'nonsense' && seq % 2 === 0) return { header: 'nonsense' }
      return {
        header: createMessageHeader(seq),
        topic: sent === 'others' && seq % 2 === 0 ? '12' : '1',
      }
    })
    const waitForReason = (text: string) =>
      control.waitForStatus(1, ({ reason }) => reason?.includes(text) === true)
    /** Advances the clock by a minute after everything sent so far has arrived. */
    const passMinute = async (from: typeof sent) => {
      sent = from
      for (let i = 0; i < 10; i++) await control.waitForNextMessage('findings')
      clock.advance(60_000)
    }
    await waitForReason('messages could not be read; the last one because its header is not JSON')
    await passMinute('others')
    await waitForReason('other topics are also sent (12)')
    await passMinute('nothing else')
    for (let i = 0; i < 10; i++) await control.waitForNextMessage('findings')
    const { state, reason } = await control.waitForStatus(1, () => true)
    expect({ state, reason }).toEqual({ state: 'running', reason: undefined })
  })

  it('reports what is wrong with a sender of invalid messages, and later that all were invalid', async () => {
    const endpoint = endpointIn(createTemporaryFolder())
    const clock = createAdjustableClock()
    const control = await follow(endpoint, clock)
    const sender = await startPublisher(endpoint, () => ({ header: 'nonsense' }))
    const waitForReason = (text: string) =>
      control.waitForStatus(1, ({ reason }) => reason?.includes(text) === true)
    await waitForReason('messages could not be read')
    await sender.stop()
    clock.advance(60_000)
    const { state } = await waitForReason('has sent only unreadable messages')
    expect(state).toBe('connecting')
    const good = await startPublisher(endpoint, seq => ({ header: createMessageHeader(seq) }))
    await control.waitForStatus(
      1,
      ({ state, reason }) => state === 'running' && reason === undefined,
    )
    await good.stop()
    await startPublisher(endpoint, () => ({ header: 'nonsense' }))
    await control.waitForStatus(
      1,
      ({ state, reason = '' }) => state === 'reconnecting' && /could not be read/.test(reason),
    )
  })

  it('follows only the selected topic of a sender', async () => {
    const endpoint = endpointIn(createTemporaryFolder())
    const control = await follow(`${endpoint}?topic=gate/1`)
    const topics = ['gate/11', 'gate/1', 'door/1']
    const createMessage = (seq: number) => {
      const topic = topics[seq % 3]!
      return { topic, header: createMessageHeader(seq, { events: [{ type: topic }] }) }
    }
    await startPublisher(endpoint, createMessage)
    await control.waitForNextMessage('findings', ({ events }) => events[0]?.type === 'gate/1')
    const since = control.messages.length
    for (let i = 0; i < 5; i++) await control.waitForNextMessage('findings')
    const events = control.messages
      .slice(since)
      .flatMap(each => (each.type === 'findings' ? each.events : []))
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['gate/1']))
    await control.waitForStatus(1, ({ reason }) => reason?.includes('gate/11') === true)
  })

  it('reconnects when the sender falls silent', async () => {
    const endpoint = endpointIn(createTemporaryFolder())
    const control = await follow(endpoint)
    const sender = await startPublisher(endpoint, seq => ({ header: createMessageHeader(seq) }))
    await state(control, 'running')
    await sender.stop()
    expect((await state(control, 'reconnecting')).reason).toContain('has sent nothing for 5 s')
  })

  it('accepts connections from senders if it binds', async () => {
    const port = await findFreePort()
    const control = await follow(`tcp://127.0.0.1:${port}?bind=true`)
    const payload = createJpeg(SIZE)
    await startPublisher(
      `tcp://127.0.0.1:${port}`,
      seq => ({ header: createMessageHeader(seq, { format: 'JPEG' }), payload }),
      {
        bind: false,
      },
    )
    await newest(control)
  })
})
