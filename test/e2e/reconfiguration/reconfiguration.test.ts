// @module-tag long

import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@eyrie/client'
import type { Pacing } from '@eyrie/contract/media'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { SinkRecord } from '../../../services/engine/sinks/sink.ts'
import { type FrameGate, startFrameGate } from '../../fixtures/engine/turnstile.ts'
import {
  getNumberBox,
  numberedShape,
  writeNumberedVideo,
} from '../../fixtures/media/numbered-video.ts'
import { createTemporaryFolder } from '../../fixtures/temporary-folder.ts'
import { applyEdit, EDIT_KINDS } from './edits.ts'
import { type EightChannels, startEightChannels } from './eight-channels.ts'

const isLong = process.env.EYRIE_LONG === '1'
/** Each kind of edit once, or twenty times. */
const edits = EDIT_KINDS * (isLong ? 20 : 1)
/** With pacing `all`, the file must not end before the last edit. */
const frames = edits * 30
const limitMs = isLong ? 1_200_000 : 300_000

let folder: string
let turnstile: FrameGate
let eight: EightChannels

async function start(pacing: Pacing): Promise<void> {
  folder = createTemporaryFolder()
  const video = join(folder, 'numbered.mp4')
  await writeNumberedVideo(video, frames)
  turnstile = await startFrameGate()
  eight = await startEightChannels({ folder, video, pacing, turnstile })
}

test(
  `${edits} edits of one channel cost seven others neither frames of a file nor their state`,
  async () => {
    await start('all')
    turnstile.open(20)
    await waitForRecords(10)
    const rings = eight.listRings()
    await applyAllEdits()
    expect(eight.listRings()).toEqual(expect.arrayContaining(rings))

    turnstile.open(Number.POSITIVE_INFINITY)
    const every = Array.from({ length: frames }, (_, i) => i + 1)
    await vi.waitUntil(
      () => eight.others.every(channel => eight.readRecords(channel).at(-1)?.n === frames),
      {
        timeout: limitMs,
        interval: 500,
      },
    )
    for (const channel of eight.others) {
      const records = eight.readRecords(channel)
      expect(records.map(({ n }) => n)).toEqual(every)
      expect(records.map(({ counters }) => counters.seen?.frames)).toEqual(every)
      expect(records.at(-1)?.counters.seen?.interruptions).toBe(
        records[0]?.counters.seen?.interruptions,
      )
    }
    for (const channel of [eight.others[0], eight.others[4]]) {
      const boxes = eight.readRecords(channel!).map(({ objects }) => objects[0]?.bbox)
      expect(boxes).toEqual(every.map(n => getNumberBox(n - 1)))
    }
  },
  limitMs,
)

test(
  `${edits} edits of one channel cost seven others no frames of a live source beyond those counted as dropped`,
  async () => {
    await start('realtime')
    turnstile.open(Number.POSITIVE_INFINITY)
    await waitForRecords(10)
    const rings = eight.listRings()
    await applyAllEdits()
    expect(eight.listRings()).toEqual(expect.arrayContaining(rings))

    const recorded = eight.others.map(channel => eight.readRecords(channel))
    const metrics = await (await fetch(`${eight.engine.url}/metrics`)).text()
    for (const [index, { id }] of eight.others.entries()) {
      const records = recorded[index]!
      const missing = records.at(-1)!.n - records[0]!.n + 1 - records.length
      // A drop is counted before the next frame is published.
      expect(missing).toBeLessThanOrEqual(readDropped(metrics, id, 'lacking'))
      expect(readDropped(metrics, id, 'failed')).toBe(0)
      expect(records.map(({ counters }) => counters.seen?.frames)).toEqual(
        records.map((_, i) => i + 1),
      )
      expect(findInterruptions(records).filter(isUnexplained)).toEqual([])
    }
  },
  limitMs,
)

interface Interruption {
  n: number
  /** Number of the previously analysed frame. */
  previous: number
  /** The file was looped in between, which interrupts the stream. */
  isLoop: boolean
}

function findInterruptions(records: SinkRecord[]): Interruption[] {
  const countInterruptions = ({ counters }: SinkRecord) => counters.seen?.interruptions
  return records
    .map((record, i) => ({ record, previous: records[i - 1] }))
    .filter(
      ({ record, previous }) =>
        previous && countInterruptions(record) !== countInterruptions(previous),
    )
    .map(({ record, previous }) => ({
      n: record.n,
      previous: previous!.n,
      isLoop: countLoops(record) !== countLoops(previous!),
    }))
}

/** Calculated from the stream time, because decoding may start in the middle of the first loop. */
const countLoops = ({ pts }: SinkRecord) => Math.floor(pts / (90_000 / numberedShape.fps) / frames)

/** Neither dropped frames nor a loop explain the interruption. */
const isUnexplained = ({ n, previous, isLoop }: Interruption) => n === previous + 1 && !isLoop

/** Applies all edits, each after the effect of the previous one has been observed. */
async function applyAllEdits(): Promise<void> {
  const { channel, others, pipeline, engine } = eight
  const closing = new AbortController()
  onTestFinished(() => closing.abort())
  const api = createClient({ url: engine.url, signal: closing.signal })
  const file = join(folder, 'data/output/edited.jsonl')
  const sink = await api.sink.create({ type: 'file', address: `file://${file}` })
  const target = {
    api,
    pipeline,
    sink,
    source: { id: channel.source },
    otherSource: { id: others.at(-1)!.source },
  }
  let marked = 0
  const follow = async () => {
    for await (const message of api.output({ channels: [channel.id], kinds: ['frame'] })) {
      if (message.kind === 'frame') marked = message.data.counters.mark?.edit ?? 0
    }
  }
  void follow()
  const sinkBytes = () => (existsSync(file) ? statSync(file).size : 0)

  for (let number = 1; number <= edits; number += 1) {
    const bytesBefore = sinkBytes()
    // Lets a few frames pass during the edit and afterwards.
    turnstile.open(6)
    const effect = await applyEdit(target, number)
    const isObserved = () =>
      effect === 'sink idle' ||
      (effect === 'marked' ? marked === number : sinkBytes() > bytesBefore)
    const waitForEffect = async () => {
      if (isObserved()) return
      turnstile.open(1)
      const { status, reason } = await api.pipelineStatistics(pipeline.id)
      throw new Error(
        `edit ${number} has no effect (${effect}): the pipeline is ${status}, ${reason}`,
      )
    }
    // Each attempt lets a frame pass: more of them would end the file early on a slow machine.
    await vi.waitFor(waitForEffect, { timeout: 60_000, interval: 500 })
  }
}

const waitForRecords = (count: number) =>
  vi.waitUntil(() => eight.others.every(channel => eight.readRecords(channel).length >= count), {
    timeout: limitMs,
    interval: 200,
  })

function readDropped(metrics: string, channel: number, reason: 'lacking' | 'failed'): number {
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
