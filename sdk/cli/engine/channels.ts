import type { Client } from '@eyrie/client'
import type { Address } from '@eyrie/contract'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { json, table } from '../terminal.ts'
import { connect, engineOptions } from './connect.ts'
import { healthCells, pipelineHealth } from './health.ts'

export const channelsCommand: Command = {
  usage: '[--json] [--url URL] [--token TOKEN]',
  about: 'Lists channels: which pipeline analyses which source, and how well.',

  async run(args, terminal) {
    const { values } = parse(args, { json: { type: 'boolean' }, ...engineOptions }, [])
    const channels = await listChannels(connect(values, terminal))
    if (values.json) return json(terminal.out, channels)
    if (channels.length === 0) return void terminal.out.write('There are no channels.\n')
    const header = [
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
    const cells = channels.map(({ id, source, pipeline, usecase, address, ...health }) => {
      const [status, fps, latency, reason] = healthCells(terminal.out, health)
      return [id, source, pipeline, status, fps, latency, usecase, address, reason].map(String)
    })
    terminal.out.write(table([header, ...cells]))
  },
}

/** Puts together what several answers tell; what was deleted between them is left out. */
async function listChannels(client: Client) {
  const [{ channels = [] }, { sources, pipelines }, properties] = await Promise.all([
    client.getExports({ filter: ['channels'] }),
    client.getConfiguration(),
    client.channelProperties({ props: ['usecase', 'fps', 'latency'] }),
  ])
  const health = await pipelineHealth(
    client,
    pipelines.map(({ id }) => id),
  )
  return channels.flatMap(({ id, source, pipeline }) => {
    const from = sources.find(each => each.id === source)
    const { status, reason } = health.get(pipeline) ?? {}
    if (!from || !status) return []
    const { usecase = '', fps = 0, latency = 0 } = properties[id] ?? {}
    return [{ id, source, pipeline, status, reason, fps, latency, usecase, address: urlOf(from.address) }]
  })
}

const urlOf = (address: Address) => (typeof address === 'string' ? address : address.url)
