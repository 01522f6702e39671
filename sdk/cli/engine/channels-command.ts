import type { Client } from '@eyrie/client'
import type { Address } from '@eyrie/contract'
import { type Command, parseArguments } from '../command/command.ts'
import { formatTable, writeJson } from '../command/terminal.ts'
import { connectEngine, engineOptions } from './engine-access.ts'
import { formatHealthCells, readPipelineHealth } from './pipeline-health.ts'

const header = ['CHANNEL', 'SOURCE', 'PIPELINE', 'STATUS', 'FPS', 'LATENCY', 'USECASE', 'ADDRESS', 'REASON']

export const channelsCommand: Command = {
  usage: '[--json] [--url URL] [--token TOKEN]',
  about: 'Lists channels with their source, pipeline, status and frame rate.',

  async run(args, terminal) {
    const { values } = parseArguments(args, { json: { type: 'boolean' }, ...engineOptions }, [])
    const channels = await listChannels(connectEngine(values, terminal))
    if (values.json) return writeJson(terminal.out, channels)
    if (channels.length === 0) return void terminal.out.write('There are no channels.\n')
    const rows = channels.map(({ id, source, pipeline, usecase, address, ...health }) => {
      const [status, fps, latency, reason] = formatHealthCells(terminal.out, health)
      return [id, source, pipeline, status, fps, latency, usecase, address, reason].map(String)
    })
    terminal.out.write(formatTable([header, ...rows]))
  },
}

/** Joins the answers of several requests. Channels deleted between two of them are omitted. */
async function listChannels(client: Client) {
  const [{ channels = [] }, { sources, pipelines }, properties] = await Promise.all([
    client.getExports({ filter: ['channels'] }),
    client.getConfiguration(),
    client.channelProperties({ props: ['usecase', 'fps', 'latency'] }),
  ])
  const health = await readPipelineHealth(
    client,
    pipelines.map(({ id }) => id),
  )
  return channels.flatMap(({ id, source: sourceId, pipeline }) => {
    const source = sources.find(candidate => candidate.id === sourceId)
    const { status, reason } = health.get(pipeline) ?? {}
    if (!source || !status) return []
    const { usecase = '', fps = 0, latency = 0 } = properties[id] ?? {}
    const address = toUrl(source.address)
    return [{ id, source: sourceId, pipeline, status, reason, fps, latency, usecase, address }]
  })
}

const toUrl = (address: Address) => (typeof address === 'string' ? address : address.url)
