import { stripVTControlCharacters, styleText } from 'node:util'

/** Where a command writes: a terminal, or a file or pipe that wants plain text. */
export interface Output {
  write(text: string): unknown
  isTTY?: boolean
}

/** What a command is given of the world. */
export interface Terminal {
  /** The folder of everything that the appliance writes. */
  data: string
  /** Where the services are and how to get in, if other than by default. */
  environment?: Readonly<Record<string, string | undefined>>
  out: Output
  err: Output
  /** From now on Ctrl-C fires this signal instead of ending the program. */
  interrupted?(): AbortSignal
}

/** The command line itself is wrong; what the message says can be read up in the usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

type Style = Parameters<typeof styleText>[0]

/** Colours are for eyes: a file or pipe gets plain text. */
export const styled = (output: Output, style: Style, text: string) =>
  output.isTTY ? styleText(style, text, { validateStream: false }) : text

/** Columns as wide as their longest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map(row => widthOf(row[column] ?? '')))) ?? []
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd()
  return rows.map(row => `${line(row)}\n`).join('')
}

/** Colours take no room. */
const widthOf = (cell: string) => stripVTControlCharacters(cell).length

/** For programs: a value as indented JSON. */
export const json = (output: Output, value: unknown) => {
  output.write(`${JSON.stringify(value, null, 2)}\n`)
}
