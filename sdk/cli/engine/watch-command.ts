import type { ReceivedMessage } from '@eyrie/client'
import { type Hello, type OutputMessage, type OutputQuery, outputQuery } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import {
  type Command,
  JSON_OPTION,
  parseArguments,
  parsePositiveInteger,
  UsageError,
} from '../command/command.ts'
import { type Output, type Style, styled, toLine } from '../command/terminal.ts'
import { connectEngine, ENGINE_OPTIONS } from './engine-access.ts'

const WATCH_OPTIONS = {
  kinds: { type: 'string', default: 'event,picture,count,state' },
  channels: { type: 'string' },
  since: { type: 'string' },
  count: { type: 'string' },
  ...JSON_OPTION,
  ...ENGINE_OPTIONS,
} as const

const KIND_COLORS: Record<OutputMessage['kind'], Style> = {
  event: 'green',
  count: 'cyan',
  state: 'yellow',
  frame: 'dim',
  stats: 'dim',
  picture: 'green',
}
/** Widths of columns. */
const ORIGIN_WIDTH = 'channel 99'.length
const KIND_WIDTH = 'picture'.length

/**
 * `eyrie watch`: prints the output of the engine, message by message, until the
 * command is interrupted.
 */
export const watchCommand: Command = {
  usage:
    '[--kinds event,picture,count,state,frame,stats] [--channels 1,2] [--since SEQ] [--count N]\n' +
    '      [--json] [--url URL] [--token TOKEN]',
  about:
    'Prints messages of channels as they arrive: events with their pictures, counts and states, or only --kinds.\n' +
    '--since begins with stored messages from that sequence number on; --count stops after that many messages.',

  async run(args, terminal) {
    const { values } = parseArguments(args, WATCH_OPTIONS)
    const { kinds, channels, since, count } = values
    const query = parseQuery({ kinds, channels, since })
    const maxMessages =
      count === undefined ? Number.POSITIVE_INFINITY : parsePositiveInteger('count', count)

    const { out, err } = terminal
    const onDisconnect = (error: Error) =>
      err.write(`${styled(err, 'yellow', 'waiting:')} ${error.message}\n`)

    const client = connectEngine(values, terminal)
    // This request fails at once if the address or token is wrong. `client.output`
    // would retry without end.
    await client.about()

    let printed = 0
    for await (const message of client.output({ ...query, onDisconnect })) {
      // The greeting at the start of each connection is of no interest to users.
      if (message.kind === 'hello') continue

      const line = values.json ? JSON.stringify(message) : formatMessage(message, out)
      out.write(`${line}\n`)
      // While this waits, the engine skips frames, and stores the other messages.
      await out.drain?.()

      // A gap stands for messages that are missing: it does not count as a message.
      if (message.kind !== 'gap') printed += 1
      if (printed === maxMessages) return
    }
  },
}

/** Parses the options that select messages. Throws a `UsageError` that names the invalid option. */
function parseQuery(options: Record<string, string | undefined>): OutputQuery {
  try {
    return parseAs(outputQuery, options)
  } catch (error) {
    // The message starts with a JSON pointer to the field: `/kinds/0` becomes `--kinds`.
    throw new UsageError((error as Error).message.replace(/^\/(\w+)(\/\d+)?/, '--$1'))
  }
}

/** Formats a message: `12:00:00  channel 3   event    line-crossing name=door direction=up` */
export function formatMessage(message: Exclude<ReceivedMessage, Hello>, out: Output): string {
  if (message.kind === 'gap') {
    return styled(out, 'red', `gap: messages ${message.from} to ${message.to} are no longer stored`)
  }

  const { time, channel, kind, data } = message
  // The frames that were not sent before this one, because the output is read slowly.
  const dropped = message.kind === 'frame' ? message.dropped : undefined
  const clock = new Date(time).toTimeString().slice(0, 8)
  const origin = channel === null ? 'engine' : `channel ${channel}`
  return [
    styled(out, 'dim', clock),
    origin.padEnd(ORIGIN_WIDTH),
    styled(out, KIND_COLORS[kind], kind.padEnd(KIND_WIDTH)),
    toLine(formatData(dropped === undefined ? data : { ...data, dropped })),
  ].join('  ')
}

/**
 * Formats the type or state of a message, followed by its other fields as
 * `key=value` or `key.key=value`.
 */
function formatData(data: object): string {
  const { type, state, ...fields } = data as { type?: string; state?: string }
  const title = type ?? state
  const fieldTexts = formatFields(fields)
  const texts = title === undefined ? fieldTexts : [title, ...fieldTexts]
  return texts.join(' ')
}

/**
 * Formats the fields of an object. `path` precedes their names: it is empty, or the path of
 * the object and a dot.
 */
function formatFields(fields: object, path = ''): string[] {
  return Object.entries(fields).flatMap(([key, value]) => formatField(path + key, value))
}

/** Formats a field; an array as its length, an object as its fields. */
function formatField(path: string, value: unknown): string[] {
  if (typeof value === 'number') return [`${path}=${Number(value.toFixed(3))}`]
  if (Array.isArray(value)) return [`${path}=[${value.length}]`]
  if (typeof value === 'object' && value !== null) return formatFields(value, `${path}.`)
  return [`${path}=${value}`]
}
