import { EyrieError } from '@eyrie/contract'
import { parse } from 'csv-parse/sync'
import { readSheet } from 'read-excel-file/node'
import { fieldError } from '../errors/field-errors.ts'
import { unpackedZip } from './unpacked-zip.ts'

const MOST_FILE_BYTES = 1 << 20
const MOST_UNPACKED_BYTES = 8 << 20
const MOST_ROWS = 10_000
const ZIP = Buffer.from('PK\x03\x04', 'latin1')

/** A row of a table: its number as people count it, and its cells as text. */
export interface Row {
  number: number
  cells: string[]
}

/**
 * The rows of a table, CSV or .xlsx, whichever its content is: names of files and types are not believed. Of a cell with
 * a formula it is the value that was last computed. Throws EyrieError `size`, or `syntax` where it is no table.
 */
export async function readRows(file: Buffer): Promise<Row[]> {
  if (file.length > MOST_FILE_BYTES) throw new EyrieError('size', 'modulefile: it is larger than 1 MiB')
  const table = file.subarray(0, ZIP.length).equals(ZIP) ? await readXlsx(file) : readCsv(file)
  if (table.length > MOST_ROWS) throw fieldError('modulefile', `it has more than ${MOST_ROWS} rows`)
  return table
    .map((cells, n) => ({ number: n + 1, cells: cells.map(cell => cell.trim()) }))
    .filter(({ cells }) => cells.some(cell => cell !== ''))
}

async function readXlsx(file: Buffer): Promise<string[][]> {
  const unpacked = unpackedZip(file, MOST_UNPACKED_BYTES)
  try {
    const sheet = await readSheet(unpacked)
    return sheet.map(row => row.map(cell => (cell === null ? '' : String(cell))))
  } catch (cause) {
    throw fieldError('modulefile', `it is no .xlsx: ${(cause as Error).message}`, { cause })
  }
}

function readCsv(file: Buffer): string[][] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(file)
    return parse(text, { bom: true, relax_column_count: true, skip_empty_lines: false, to: MOST_ROWS + 1 })
  } catch (cause) {
    throw fieldError('modulefile', `it is neither CSV in UTF-8 nor .xlsx: ${(cause as Error).message}`, {
      cause,
    })
  }
}
