import { type Client, createClient, readHealth } from '@eyrie/client'
import type { Health } from '@eyrie/contract'
import { type Command, parseArguments } from '../command/command.ts'
import { formatTable, type Output, styled, type Terminal, writeJson } from '../command/terminal.ts'
import { engineOptions, getEngineAccess, getServiceAccess } from './engine-access.ts'
import { formatHealthCells, readPipelineHealth } from './pipeline-health.ts'

export const statusCommand: Command = {
  usage: '[--json] [--url URL] [--token TOKEN]',
  about:
    'Shows the state of the appliance: alarms, services and pipelines. With --url, shows only the engine at that address.',

  async run(args, terminal) {
    const { values } = parseArguments(args, { json: { type: 'boolean' }, ...engineOptions }, [])
    const engine = getEngineAccess(values, terminal)
    const serviceUrls = { engine: engine.url, ...(values.url === undefined && getOtherServiceUrls(terminal)) }
    const status = await readStatus(createClient(engine), serviceUrls)
    if (values.json) writeJson(terminal.out, status)
    else printStatus(status, terminal.out)
  },
}

type Status = Awaited<ReturnType<typeof readStatus>>

const getOtherServiceUrls = (terminal: Terminal) =>
  Object.fromEntries(Object.entries(getServiceAccess(terminal)).map(([name, { url }]) => [name, url]))

async function readStatus(client: Client, serviceUrls: Record<string, string>) {
  const [about, services, activation, system, pipelines] = await Promise.all([
    client.about(),
    readServiceHealth(serviceUrls),
    client.getActivation(),
    client.systemStatistics(),
    client.pipeline.list(),
  ])
  const health = await readPipelineHealth(
    client,
    pipelines.map(({ id }) => id),
  )
  return {
    about,
    services,
    activation,
    system,
    pipelines: pipelines.flatMap(pipeline => {
      const statistics = health.get(pipeline.id)
      return statistics ? [{ ...pipeline, statistics }] : []
    }),
  }
}

async function readServiceHealth(urls: Record<string, string>): Promise<Record<string, Health>> {
  const entries = Object.entries(urls).map(async ([name, url]) => [name, await readHealth(url)] as const)
  return Object.fromEntries(await Promise.all(entries))
}

const MIB = 1 << 20

function printStatus({ about, services, activation, system, pipelines }: Status, out: Output): void {
  const summary = [
    `${about.name} ${about.version} on ${about.hostname}`,
    activation.activated
      ? `activated for ${activation.license?.customer}`
      : styled(out, 'yellow', 'not activated'),
    `up ${formatDuration(system.uptime)}`,
    `CPU ${Math.round(system.cpu)} %`,
    `memory ${Math.round(system.mem_physical / MIB)} MiB`,
  ]
  out.write(`${summary.join(', ')}\n`)
  for (const [name, { ok, reason, alarms }] of Object.entries(services)) {
    if (!ok) out.write(`${styled(out, 'red', 'unhealthy')}  ${name}: ${reason ?? 'unknown reason'}\n`)
    for (const alarm of alarms) out.write(`${styled(out, ['red', 'bold'], 'alarm')}  ${name}: ${alarm}\n`)
  }
  out.write('\n')
  if (pipelines.length === 0) return void out.write('There are no pipelines.\n')
  const header = ['PIPELINE', 'STATUS', 'FPS', 'LATENCY', 'SOURCES', 'SINKS', 'ELEMENTS', 'REASON']
  const rows = pipelines.map(({ id, sources, sinks, elements, statistics }) => {
    const [status, fps, latency, reason] = formatHealthCells(out, statistics)
    const names = elements.map(({ name }) => name).join(' > ')
    return [String(id), status, fps, latency, formatIds(sources), formatIds(sinks), names, reason]
  })
  out.write(formatTable([header, ...rows]))
}

const formatIds = (ids: number[]) => ids.join(',') || '-'

/** Formats seconds in their two largest units: `3 d 4 h`, `12 min 5 s`. */
function formatDuration(seconds: number): string {
  const units = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3600) % 24],
    ['min', Math.floor(seconds / 60) % 60],
    ['s', Math.floor(seconds) % 60],
  ] as const
  const largest = units.findIndex(([, amount]) => amount > 0)
  return units
    .slice(largest)
    .slice(0, 2)
    .map(([unit, amount]) => `${amount} ${unit}`)
    .join(' ')
}
