import type { Writable } from 'node:stream'
import { stripVTControlCharacters, styleText } from 'node:util'
import { escapeControlCharacters } from '@eyrie/contract/control-characters'

/** A stream that a command writes to: a terminal, a file or a pipe. */
export interface Output {
  write(text: string): unknown
  isTTY?: boolean
  /** Deletes the last line of a terminal, if it is not complete yet. */
  eraseLine?(): unknown
  /**
   * Resolves when the reader has received most of what was written, which waits in memory until
   * then. A command that writes without end waits for it.
   */
  drain?(): Promise<void>
}

/** Returns the output to a stream. An error of the stream is not an error of the output. */
export const createStreamOutput = (stream: Writable & { isTTY?: boolean }): Output => ({
  isTTY: stream.isTTY === true,
  write: text => stream.write(text),
  async drain() {
    if (!stream.writableNeedDrain) return
    await new Promise<void>(resolve => stream.once('drain', resolve))
  },
})

/** The environment in which a command runs. */
export interface Terminal {
  /** The data folder of the appliance, `EYRIE_DATA`. */
  data: string
  /** Environment variables, such as the addresses and tokens of services. */
  environment?: Readonly<Record<string, string | undefined>>
  /** Standard input: the keyboard, a file or a pipe. */
  input?: NodeJS.ReadableStream & { isTTY?: boolean }
  out: Output
  err: Output
  /**
   * Returns a signal that fires on Ctrl-C, SIGTERM and the end of the terminal. After this call,
   * the first of them no longer ends the program.
   */
  captureInterrupt?(): AbortSignal
}

export type Style = Parameters<typeof styleText>[0]

/**
 * Returns the text with the style's escape sequences if the output is a terminal,
 * otherwise the plain text.
 */
export const styled = (output: Output, style: Style, text: string) =>
  output.isTTY ? styleText(style, text, { validateStream: false }) : text

/**
 * What a text may contain in addition to printable characters: line breaks, tabs, and the escape
 * sequences of `styled`.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const LAYOUT = /(\n|\t|\u001b\[(?:0|1|2|22|3[1-6]|39|9[0-6])?m)/

const ERASE_LINE = '\r\u001b[K'

/** Returns an output that escapes control characters, so that no text can control the terminal. */
const createSafeOutput = (output: Output): Output => ({
  isTTY: output.isTTY === true,
  write: text => output.write(escapeText(text)),
  eraseLine: () => output.write(ERASE_LINE),
  drain: async () => output.drain?.(),
})

/**
 * Returns a terminal whose outputs escape control characters. The property `input` stays a getter,
 * because standard input is created only for commands that read it.
 */
export function createSafeTerminal(terminal: Terminal): Terminal {
  const copy = Object.defineProperties({} as Terminal, Object.getOwnPropertyDescriptors(terminal))
  copy.out = createSafeOutput(terminal.out)
  copy.err = createSafeOutput(terminal.err)
  return copy
}

/** Splitting by a pattern with a group returns texts and separators in turn. */
const escapeText = (text: string): string =>
  text
    .split(LAYOUT)
    .map((part, index) => (index % 2 === 0 ? escapeControlCharacters(part) : part))
    .join('')

/**
 * Writes what a command has done: a verb in green and its object, such as `wrote bundle.tar.gz`.
 */
export function writeSuccess(output: Output, verb: string, object: string): void {
  output.write(`${styled(output, 'green', verb)} ${object}\n`)
}

/** Writes a value as indented JSON, the output of commands with `--json`. */
export function writeJson(output: Output, value: unknown): void {
  output.write(`${JSON.stringify(value, null, 2)}\n`)
}

/** Writes rows as columns that are as wide as their longest cell. Cells may be styled. */
export function writeTable(output: Output, table: readonly (readonly string[])[]): void {
  const rows = table.map(row => row.map(toLine))
  const columnWidths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      const previousWidth = columnWidths[column] ?? 0
      columnWidths[column] = Math.max(previousWidth, getPrintedWidth(cell))
    }
  }

  for (const row of rows) {
    const cells = row.map((cell, column) => {
      const padding = columnWidths[column]! - getPrintedWidth(cell)
      return cell + ' '.repeat(padding)
    })
    output.write(`${cells.join('  ').trimEnd()}\n`)
  }
}

/** Escapes control characters of a text that must not continue on another line. */
export const toLine = (text: string): string =>
  escapeText(text).replace(/[\n\t]/g, escapeControlCharacters)

/**
 * Returns the number of character cells that a text occupies. Escape sequences of styles occupy
 * none.
 */
const getPrintedWidth = (text: string) => stripVTControlCharacters(text).length
