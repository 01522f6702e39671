import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Channel, Pipeline, PipelineElement } from '@eyrie/contract'
import type { Pacing } from '@eyrie/contract/media'
import { onTestFinished } from 'vitest'
import type { SinkRecord } from '../../../services/engine/sinks/sink.ts'
import { writePlugin } from '../../fixtures/engine/test-plugin.ts'
import { type FrameGate, waitAtFrameGate } from '../../fixtures/engine/turnstile.ts'
import { type EngineProcess, startEngineProcess } from '../../fixtures/processes/engine-process.ts'
import { type MediaProcess, startMediaProcess } from '../../fixtures/processes/media-process.ts'

/**
 * One channel to edit, four others on its source and three on another source. Media and engine run
 * as processes until the test ends.
 */
export interface EightChannels {
  media: MediaProcess
  engine: EngineProcess
  /** The pipeline to edit, and its channel. */
  pipeline: Pipeline
  channel: Channel
  /** The seven other channels. `[0]` and `[4]` read frame numbers. */
  others: Channel[]
  /** Reads the output file of a channel: one record per frame. */
  readRecords(channel: Pick<Channel, 'pipeline'>): SinkRecord[]
  /** Lists the frame rings. */
  listRings(): string[]
}

/** Counts frames and interruptions of the stream since it was opened. */
const count = { name: 'count' }
const counting = `
  let frames = 0, interruptions = 0
  return {
    process: ({ discontinuity }: any) => {
      frames += 1
      if (discontinuity) interruptions += 1
      return { counters: { seen: { frames, interruptions } } }
    },
  }`
/** Marks every frame with the number of the edit. */
const marking = 'return { process: () => ({ counters: { mark: { edit: setup.args.edit } } }) }'

const anyArgs = { element: { params_schema: { type: 'object' } } } as const

export interface EightChannelsOptions {
  folder: string
  video: string
  pacing: Pacing
  turnstile: FrameGate
}

/** With pacing `all` the video is played once, with `realtime` in a loop. */
export async function startEightChannels({
  folder,
  video,
  pacing,
  turnstile,
}: EightChannelsOptions): Promise<EightChannels> {
  const data = join(folder, 'data')
  const plugins = join(folder, 'plugins')
  writePlugin(plugins, { name: 'count', open: counting })
  writePlugin(plugins, { name: 'mark', open: marking, ...anyArgs })
  writePlugin(plugins, { name: 'turnstile', open: waitAtFrameGate, ...anyArgs })
  const other = join(folder, 'other.mp4')
  copyFileSync(video, other)

  const media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
  onTestFinished(media.stop)
  const engine = await startEngineProcess({
    data,
    media,
    plugins,
    settings: { engine: { pacing, inference_workers: 1 } },
    variables: { EYRIE_MEDIA_ROOTS: folder },
  })
  onTestFinished(engine.stop)
  const type = pacing === 'all' ? 'file' : 'inf'
  const getFile = (index: number) => join(data, 'output', `${index}.jsonl`)
  const infer = { name: 'infer', args: { model: 'scene-detector' } }
  const resized = (args: Record<string, number>) => [{ name: 'image-resize', args }, infer, count]
  const pass = { name: 'turnstile', args: { url: turnstile.url } }
  const on = (address: string, elements: PipelineElement[], index: number) => ({
    sources: [{ type, address } as const],
    elements,
    sinks: index < 0 ? [] : [{ type: 'file', address: `file://${getFile(index)}` } as const],
  })

  const onSame = [
    [{ name: 'read-number' }, count],
    resized({ width: 96, height: 64 }),
    [{ name: 'object-tracking' }, count],
    [pass, count],
  ]
  const onOther = [[{ name: 'read-number' }, count], resized({ scale: 0.2 }), [pass, count]]
  const { pipelines } = await engine.api.deploy([
    on(video, [{ name: 'mark', args: { edit: 0 } }], -1),
    ...onSame.map((elements, index) => on(video, elements, index)),
    ...onOther.map((elements, index) => on(other, elements, onSame.length + index)),
  ])
  const { channels = [] } = await engine.api.getExports()
  const [pipeline, ...rest] = pipelines
  const channelOf = ({ id }: Pipeline) =>
    channels.find(channel => channel.pipeline === id) as Channel
  const others = rest.map(channelOf)

  return {
    media,
    engine,
    pipeline: pipeline as Pipeline,
    channel: channelOf(pipeline as Pipeline),
    others,
    readRecords: channel => {
      const file = getFile(rest.findIndex(({ id }) => id === channel.pipeline))
      if (!existsSync(file)) return []
      // The last line may be incomplete.
      return readFileSync(file, 'utf8')
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line))
    },
    listRings: () => readdirSync(media.environment.ring).sort(),
  }
}
