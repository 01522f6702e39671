import type { Client } from '@eyrie/client'
import type { Address } from '@eyrie/contract'
import { type Command, JSON_OPTION, parseArguments } from '../command/command.ts'
import { writeJson, writeTable } from '../command/terminal.ts'
import { connectEngine, ENGINE_OPTIONS } from './engine-access.ts'
import { formatHealthCells, readPipelineHealth } from './pipeline-health.ts'

const HEADER = [
  'CHANNEL',
  'SOURCE',
  'PIPELINE',
  'STATUS',
  'FPS',
  'LATENCY',
  'USECASE',
  'ADDRESS',
  'REASON',
]

/**
 * `eyrie channels`: lists the channels of the engine. A channel is one source that is
 * analysed by one pipeline.
 */
export const channelsCommand: Command = {
  usage: '[--json] [--url URL] [--token TOKEN]',
  about: 'Lists channels with their source, pipeline, status and frame rate.',

  async run(args, terminal) {
    const { values } = parseArguments(args, { ...JSON_OPTION, ...ENGINE_OPTIONS })
    const channels = await listChannels(connectEngine(values, terminal))

    const { out } = terminal
    if (values.json) return writeJson(out, channels)
    if (channels.length === 0) {
      out.write('There are no channels.\n')
      return
    }
    const rows = channels.map(channel => {
      const { id, source, pipeline, usecase, address } = channel
      const [status, fps, latency, reason] = formatHealthCells(out, channel)
      return [
        String(id),
        String(source),
        String(pipeline),
        status,
        fps,
        latency,
        usecase,
        address,
        reason,
      ]
    })
    writeTable(out, [HEADER, ...rows])
  },
}

/**
 * Joins the responses of several requests. A channel that is deleted between two
 * requests is omitted.
 */
async function listChannels(client: Client) {
  const [{ channels = [] }, { sources, pipelines }, channelProperties] = await Promise.all([
    client.getExports({ filter: ['channels'] }),
    client.getConfiguration(),
    client.channelProperties({ props: ['usecase', 'fps', 'latency'] }),
  ])
  const pipelineHealth = await readPipelineHealth(client, pipelines)

  return channels.flatMap(channel => {
    const source = sources.find(candidate => candidate.id === channel.source)
    const health = pipelineHealth.get(channel.pipeline)
    if (!source || !health) return []

    const { usecase = '', fps = 0, latency = 0 } = channelProperties[channel.id] ?? {}
    return {
      id: channel.id,
      source: channel.source,
      pipeline: channel.pipeline,
      status: health.status,
      reason: health.reason,
      fps,
      latency,
      usecase,
      address: getUrl(source.address),
    }
  })
}

const getUrl = (address: Address) => (typeof address === 'string' ? address : address.url)
