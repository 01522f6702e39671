import { type Client, createClient, readHealth } from '@eyrie/client'
import type { Health } from '@eyrie/contract'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { json, type Output, styled, type Terminal, table } from '../terminal.ts'
import { accessOf, engineOptions } from './connect.ts'
import { healthCells, pipelineHealth } from './health.ts'
import { servicesBeside } from './services.ts'

export const statusCommand: Command = {
  usage: '[--json] [--url URL] [--token TOKEN]',
  about:
    'Tells how the appliance is doing: alarms, services, pipelines. With --url: an engine elsewhere, alone.',

  async run(args, terminal) {
    const { values } = parse(args, { json: { type: 'boolean' }, ...engineOptions }, [])
    const access = accessOf(values, terminal)
    const services = { engine: access.url, ...(values.url === undefined && urlsBeside(terminal)) }
    const status = await readStatus(createClient(access), services)
    if (values.json) json(terminal.out, status)
    else show(status, terminal.out)
  },
}

type Status = Awaited<ReturnType<typeof readStatus>>

const urlsBeside = (terminal: Terminal) =>
  Object.fromEntries(Object.entries(servicesBeside(terminal)).map(([name, { url }]) => [name, url]))

async function readStatus(client: Client, services: Record<string, string>) {
  const [about, told, activation, system, pipelines] = await Promise.all([
    client.about(),
    healthOf(services),
    client.getActivation(),
    client.systemStatistics(),
    client.pipeline.list(),
  ])
  const health = await pipelineHealth(
    client,
    pipelines.map(({ id }) => id),
  )
  return {
    about,
    services: told,
    activation,
    system,
    pipelines: pipelines.flatMap(pipeline => {
      const statistics = health.get(pipeline.id)
      return statistics ? [{ ...pipeline, statistics }] : []
    }),
  }
}

async function healthOf(services: Record<string, string>): Promise<Record<string, Health>> {
  const told = Object.entries(services).map(async ([name, url]) => [name, await readHealth(url)] as const)
  return Object.fromEntries(await Promise.all(told))
}

const MIB = 1 << 20

function show({ about, services, activation, system, pipelines }: Status, out: Output): void {
  const facts = [
    `${about.name} ${about.version} on ${about.hostname}`,
    activation.activated
      ? `activated for ${activation.license?.customer}`
      : styled(out, 'yellow', 'not activated'),
    `up ${duration(system.uptime)}`,
    `CPU ${Math.round(system.cpu)} %`,
    `memory ${Math.round(system.mem_physical / MIB)} MiB`,
  ]
  out.write(`${facts.join(', ')}\n`)
  for (const [name, { ok, reason, alarms }] of Object.entries(services)) {
    if (!ok) out.write(`${styled(out, 'red', 'ill')}    ${name}: ${reason ?? 'it does not say why'}\n`)
    for (const alarm of alarms) out.write(`${styled(out, ['red', 'bold'], 'alarm')}  ${name}: ${alarm}\n`)
  }
  out.write('\n')
  if (pipelines.length === 0) return void out.write('There are no pipelines.\n')
  const header = ['PIPELINE', 'STATUS', 'FPS', 'LATENCY', 'SOURCES', 'SINKS', 'ELEMENTS', 'REASON']
  const cells = pipelines.map(({ id, sources, sinks, elements, statistics }) => {
    const [status = '', fps = '', latency = '', reason = ''] = healthCells(out, statistics)
    const names = elements.map(({ name }) => name).join(' > ')
    return [String(id), status, fps, latency, list(sources), list(sinks), names, reason]
  })
  out.write(table([header, ...cells]))
}

const list = (ids: number[]) => ids.join(',') || '-'

/** The two greatest units of a time in seconds: `3 d 4 h`, `12 min 5 s`. */
function duration(seconds: number): string {
  const units = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3600) % 24],
    ['min', Math.floor(seconds / 60) % 60],
    ['s', Math.floor(seconds) % 60],
  ] as const
  const first = units.findIndex(([, amount]) => amount > 0)
  return units
    .slice(first)
    .slice(0, 2)
    .map(([unit, amount]) => `${amount} ${unit}`)
    .join(' ')
}
