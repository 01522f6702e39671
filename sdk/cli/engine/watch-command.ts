import type { ReceivedMessage } from '@eyrie/client'
import { type Hello, outputQuery } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { type Command, parseArguments, parsePositiveInteger, UsageError } from '../command/command.ts'
import { type Output, styled } from '../command/terminal.ts'
import { connectEngine, engineOptions } from './engine-access.ts'

const watchOptions = {
  kinds: { type: 'string' },
  channels: { type: 'string' },
  since: { type: 'string' },
  count: { type: 'string' },
  json: { type: 'boolean' },
} as const

export const watchCommand: Command = {
  usage:
    '[--kinds event,picture,count,state,frame,stats] [--channels 1,2] [--since SEQ] [--count N]\n' +
    '      [--json] [--url URL] [--token TOKEN]',
  about:
    'Prints messages of channels as they arrive: events with their pictures, counts and states, or only --kinds.\n' +
    '--since begins with stored messages from that sequence number on; --count stops after that many messages.',

  async run(args, terminal) {
    const { values } = parseArguments(args, { ...watchOptions, ...engineOptions }, [])
    const { kinds = 'event,picture,count,state', channels, since } = values
    const query = parseQuery({ kinds, channels, since })
    let remaining =
      values.count === undefined ? Number.POSITIVE_INFINITY : parsePositiveInteger('count', values.count)
    const { out, err } = terminal
    const onDisconnect = (error: Error) =>
      err.write(`${styled(err, 'yellow', 'waiting:')} ${error.message}\n`)

    const client = connectEngine(values, terminal)
    // Fail now on a wrong address or token. Later the client reconnects without end.
    await client.about()
    for await (const message of client.output({ ...query, onDisconnect })) {
      if (message.kind === 'hello') continue
      out.write(values.json ? `${JSON.stringify(message)}\n` : `${formatMessage(message, out)}\n`)
      if (message.kind !== 'gap' && --remaining === 0) return
    }
  },
}

/** Throws a `UsageError` that names the option. */
function parseQuery(options: Record<string, string | undefined>) {
  try {
    return parseAs(outputQuery, options, '--')
  } catch (error) {
    throw new UsageError((error as Error).message.replace('--/', '--'))
  }
}

const kindColours = {
  event: 'green',
  count: 'cyan',
  state: 'yellow',
  frame: 'dim',
  stats: 'dim',
  picture: 'green',
} as const

/** Formats a message: `12:00:00  channel 3   event  line-crossing name=door direction=up` */
function formatMessage(message: Exclude<ReceivedMessage, Hello>, out: Output): string {
  if (message.kind === 'gap')
    return styled(out, 'red', `gap: messages ${message.from} to ${message.to} are no longer stored`)
  const { time, channel, kind, data } = message
  const clock = new Date(time).toTimeString().slice(0, 8)
  const origin = channel === null ? 'engine' : `channel ${channel}`
  return [
    styled(out, 'dim', clock),
    origin.padEnd(10),
    styled(out, kindColours[kind], kind.padEnd(5)),
    formatData(data),
  ].join('  ')
}

/** Formats the type or state of a message, and its other values as `key=value` and `key.key=value`. */
function formatData(data: object): string {
  const { type, state, ...rest } = data as { type?: string; state?: string }
  return [type ?? state, ...formatPairs(rest)].filter(part => part !== undefined).join(' ')
}

function formatPairs(value: unknown, path = ''): string[] {
  if (typeof value === 'number') return [`${path}=${Number(value.toFixed(3))}`]
  if (value === null || typeof value !== 'object') return [`${path}=${value}`]
  if (Array.isArray(value)) return [`${path}=[${value.length}]`]
  return Object.entries(value).flatMap(([key, inner]) => formatPairs(inner, path ? `${path}.${key}` : key))
}
