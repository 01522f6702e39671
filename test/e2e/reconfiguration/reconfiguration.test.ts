import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@eyrie/client'
import type { Pacing } from '@eyrie/contract/media'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { SinkRecord } from '../../../services/engine/sinks/sink.ts'
import { numbered, placeOf, writeNumberedVideo } from '../../fixtures/numbered-video.ts'
import { temporaryFolder } from '../../fixtures/temporary.ts'
import { startTurnstile, type Turnstile } from '../../fixtures/turnstile.ts'
import { edit } from './edits.ts'
import { type EightChannels, startEightChannels } from './eight-channels.ts'

const isLong = process.env.EYRIE_LONG === '1'
const edits = isLong ? 200 : 20
/** A file with pacing `all` must not end before the last edit. */
const frames = edits * 30
const limitMs = isLong ? 1_200_000 : 240_000

let folder: string
let turnstile: Turnstile
let eight: EightChannels

async function start(pacing: Pacing): Promise<void> {
  folder = temporaryFolder()
  const video = join(folder, 'numbered.mp4')
  await writeNumberedVideo(video, frames)
  turnstile = await startTurnstile()
  eight = await startEightChannels({ folder, video, pacing, turnstile })
}

test(
  `${edits} edits of one channel cost the seven others no frame of a file, nor anything that they know`,
  async () => {
    await start('all')
    turnstile.open(20)
    await untilAllHave(10)
    const rings = eight.rings()
    await editAll()
    expect(eight.rings()).toEqual(expect.arrayContaining(rings))

    turnstile.open(Number.POSITIVE_INFINITY)
    const every = Array.from({ length: frames }, (_, i) => i + 1)
    await vi.waitUntil(() => eight.others.every(channel => eight.recordsOf(channel).at(-1)?.n === frames), {
      timeout: limitMs,
      interval: 500,
    })
    for (const channel of eight.others) {
      const records = eight.recordsOf(channel)
      expect(records.map(({ n }) => n)).toEqual(every)
      expect(records.map(({ counters }) => counters.seen?.frames)).toEqual(every)
      expect(records.at(-1)?.counters.seen?.interruptions).toBe(records[0]?.counters.seen?.interruptions)
    }
    for (const channel of [eight.others[0], eight.others[4]]) {
      const shown = eight.recordsOf(channel!).map(({ objects }) => objects[0]?.bbox)
      expect(shown).toEqual(every.map(n => placeOf(n - 1)))
    }
  },
  limitMs,
)

test(
  `${edits} edits of one channel cost the seven others no frame of a live source but what is told as dropped`,
  async () => {
    await start('realtime')
    turnstile.open(Number.POSITIVE_INFINITY)
    await untilAllHave(10)
    const rings = eight.rings()
    await editAll()
    expect(eight.rings()).toEqual(expect.arrayContaining(rings))

    const recorded = eight.others.map(channel => eight.recordsOf(channel))
    const metrics = await (await fetch(`${eight.engine.url}/metrics`)).text()
    for (const [index, { id }] of eight.others.entries()) {
      const records = recorded[index]!
      const holes = records.at(-1)!.n - records[0]!.n + 1 - records.length
      // A hole is counted before the frame behind it comes out.
      expect(holes).toBeLessThanOrEqual(dropped(metrics, id, 'lacking'))
      expect(dropped(metrics, id, 'failed')).toBe(0)
      expect(records.map(({ counters }) => counters.seen?.frames)).toEqual(records.map((_, i) => i + 1))
      expect(interruptions(records).filter(isUnexplained)).toEqual([])
    }
  },
  limitMs,
)

interface Interruption {
  n: number
  /** The frame that was analysed before. */
  before: number
  /** The stream begins anew with each turn of the file. */
  turns: boolean
}

function interruptions(records: SinkRecord[]): Interruption[] {
  const interrupted = ({ counters }: SinkRecord) => counters.seen?.interruptions
  return records
    .map((record, i) => ({ record, previous: records[i - 1] }))
    .filter(({ record, previous }) => previous && interrupted(record) !== interrupted(previous))
    .map(({ record, previous }) => ({
      n: record.n,
      before: previous!.n,
      turns: turnOf(record) !== turnOf(previous!),
    }))
}

/** By stream time, since nobody knows with which frame of the first turn the source was decoded first. */
const turnOf = ({ pts }: SinkRecord) => Math.floor(pts / (90_000 / numbered.fps) / frames)

/** Behind frames that were dropped the stream is interrupted, too. */
const isUnexplained = ({ n, before, turns }: Interruption) => n === before + 1 && !turns

/** Makes all edits, each after the one before has shown in what comes out. */
async function editAll(): Promise<void> {
  const { channel, others, pipeline, engine } = eight
  const following = new AbortController()
  onTestFinished(() => following.abort())
  const api = createClient({ url: engine.url, signal: following.signal })
  const file = join(folder, 'data/output/edited.jsonl')
  const sink = await api.sink.create({ type: 'file', address: `file://${file}` })
  const edited = {
    api,
    pipeline,
    sink,
    source: { id: channel.source },
    otherSource: { id: others.at(-1)!.source },
  }
  let marked = 0
  const follow = async () => {
    for await (const message of api.output({ channels: [channel.id], kinds: ['frame'] }))
      if (message.kind === 'frame') marked = message.data.counters.mark?.edit ?? 0
  }
  void follow()
  const taken = () => (existsSync(file) ? statSync(file).size : 0)

  for (let number = 1; number <= edits; number += 1) {
    const before = taken()
    // Frames flow while the edit is made, and a few afterwards until it shows.
    turnstile.open(6)
    const effect = await edit(edited, number)
    const shows = () =>
      effect === 'sink rests' || (effect === 'marked' ? marked === number : taken() > before)
    const untilShown = async () => {
      if (shows()) return
      turnstile.open(1)
      const { status, reason } = await api.pipelineStatistics(pipeline.id)
      throw new Error(`edit ${number} does not show (${effect}): the pipeline is ${status}, ${reason}`)
    }
    await vi.waitFor(untilShown, { timeout: 60_000, interval: 100 })
  }
}

const untilAllHave = (count: number) =>
  vi.waitUntil(() => eight.others.every(channel => eight.recordsOf(channel).length >= count), {
    timeout: 60_000,
    interval: 200,
  })

function dropped(metrics: string, channel: number, reason: 'lacking' | 'failed'): number {
  const line = metrics
    .split('\n')
    .find(
      each =>
        each.startsWith('eyrie_engine_frames_dropped_total{') &&
        each.includes(`channel="${channel}"`) &&
        each.includes(`reason="${reason}"`),
    )
  return Number(line?.split(' ').at(-1))
}
