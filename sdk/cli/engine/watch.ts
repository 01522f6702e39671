import type { ReceivedMessage } from '@eyrie/client'
import { type Hello, outputQuery } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import type { Command } from '../eyrie.ts'
import { parse, positive } from '../parse.ts'
import { type Output, styled, UsageError } from '../terminal.ts'
import { connect, engineOptions } from './connect.ts'

export const watchCommand: Command = {
  usage:
    '[--kinds event,picture,count,state,frame,stats] [--channels 1,2] [--since SEQ] [--count N]\n' +
    '      [--json] [--url URL] [--token TOKEN]',
  about:
    'Shows what channels find as it happens: events with their pictures, counts and states, unless other kinds are asked for.\n' +
    '--since shows first what the log holds from there on; --count ends after so many messages.',

  async run(args, terminal) {
    const { values } = parse(args, { ...watchOptions, ...engineOptions }, [])
    const { kinds = 'event,picture,count,state', channels, since } = values
    const query = understood({ kinds, channels, since })
    let left = values.count === undefined ? Number.POSITIVE_INFINITY : positive('count', values.count)
    const { out, err } = terminal
    const onLost = (error: Error) => err.write(`${styled(err, 'yellow', 'waiting:')} ${error.message}\n`)

    const client = connect(values, terminal)
    // A wrong address or token is an error; later the engine may go and come back.
    await client.about()
    for await (const message of client.output({ ...query, onDisconnect: onLost })) {
      if (message.kind === 'hello') continue
      out.write(values.json ? `${JSON.stringify(message)}\n` : `${line(message, out)}\n`)
      if (message.kind !== 'gap' && --left === 0) return
    }
  },
}

const watchOptions = {
  kinds: { type: 'string' },
  channels: { type: 'string' },
  since: { type: 'string' },
  count: { type: 'string' },
  json: { type: 'boolean' },
} as const

/** Throws `UsageError` naming the option. */
function understood(given: Record<string, string | undefined>) {
  try {
    return parseAs(outputQuery, given, '--')
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

/** `12:00:00  channel 3   event  line-crossing name=door direction=up` */
function line(message: Exclude<ReceivedMessage, Hello>, out: Output): string {
  if (message.kind === 'gap')
    return styled(out, 'red', `gap: messages ${message.from} to ${message.to} are no longer kept`)
  const { time, channel, kind, data } = message
  const clock = new Date(time).toTimeString().slice(0, 8)
  const place = channel === null ? 'engine' : `channel ${channel}`
  return [
    styled(out, 'dim', clock),
    place.padEnd(10),
    styled(out, kindColours[kind], kind.padEnd(5)),
    told(data),
  ].join('  ')
}

/** The values of a message as `key=value`, those of what is inside as `key.key=value`; the type of it all first. */
function told(data: object): string {
  const { type, state, ...rest } = data as { type?: string; state?: string }
  return [type ?? state, ...pairs(rest)].filter(part => part !== undefined).join(' ')
}

function pairs(value: unknown, path = ''): string[] {
  if (typeof value === 'number') return [`${path}=${Number(value.toFixed(3))}`]
  if (value === null || typeof value !== 'object') return [`${path}=${value}`]
  if (Array.isArray(value)) return [`${path}=[${value.length}]`]
  return Object.entries(value).flatMap(([key, inner]) => pairs(inner, path ? `${path}.${key}` : key))
}
