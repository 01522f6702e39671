import { Readable } from 'node:stream'
import type { ReportFormat } from '@eyrie/contract/management/report'
import type { Report } from '../report.ts'
import { streamCsv } from './csv-report.ts'
import { findFonts } from './pdf-fonts.ts'
import { createPdf } from './pdf-report.ts'
import { createXlsx } from './xlsx-report.ts'

/** Writes a report in a format. `bom` only concerns CSV. */
export async function writeReport(
  report: Report,
  format: ReportFormat,
  { bom = false }: { bom?: boolean } = {},
): Promise<Readable> {
  switch (format) {
    case 'csv':
      return streamCsv(report, { bom })
    case 'xlsx':
      return Readable.from([await createXlsx(report)])
    case 'pdf':
      return Readable.from([await createPdf(report, findFonts())])
  }
}
