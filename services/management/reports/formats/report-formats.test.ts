import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { parse } from 'csv-parse/sync'
import readXlsx from 'read-excel-file/node'
import { describe, expect, it } from 'vitest'
import { createReportExample } from '../../../../test/fixtures/management/report-example.ts'
import { installedProgram } from '../../../../test/fixtures/requirements/installed-program.ts'
import { needs } from '../../../../test/fixtures/requirements/needs.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { createFileName, type Report } from '../report.ts'
import { streamCsv } from './csv-report.ts'
import { findFonts } from './pdf-fonts.ts'
import { createPdf } from './pdf-report.ts'
import { createXlsx } from './xlsx-report.ts'

const report = createReportExample()

describe('a report as CSV', () => {
  const readCsv = (content: string) =>
    parse(content, { columns: true, bom: true }) as Record<string, string>[]

  it('has a row for each channel and day, with the values of the period before', async () => {
    const rows = readCsv(await text(streamCsv(report, { bom: false })))
    expect(rows).toHaveLength(62)
    expect(rows[1]).toEqual({
      usecase: 'line-crossing',
      channel: 'Łódź, "Nord"',
      channel_key: 'key-0',
      first_day: '2026-03-02',
      last_day: '2026-03-02',
      up: '1',
      up_previous: '1',
      down: '1',
      down_previous: '1',
      dwell_time: '1.5',
      dwell_time_previous: '2',
    })
    expect(rows[0]).toMatchObject({ dwell_time: '' })
  })

  it('marks the rows of incomplete channels in a last column', async () => {
    const example = createReportExample({ names: ['Gate', 'Hall'], incomplete: ['Hall'] })
    const rows = readCsv(await text(streamCsv(example, { bom: false })))
    expect(Object.keys(rows[0]!).at(-1)).toBe('incomplete')
    expect(new Set(rows.map(({ channel, incomplete }) => `${channel} ${incomplete}`))).toEqual(
      new Set(['Gate ', 'Hall true']),
    )
  })

  it('has CRLF at the end of lines, and a byte order mark only if it is wanted', async () => {
    const plain = await text(streamCsv(report, { bom: false }))
    expect(plain.startsWith('usecase,channel,')).toBe(true)
    expect(
      plain
        .split('\n')
        .slice(0, -1)
        .every(line => line.endsWith('\r')),
    ).toBe(true)
    const marked = await buffer(streamCsv(report, { bom: true }))
    expect(marked.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]))
  })

  it.each(['=HYPERLINK("http://evil.example")', '+1', '-1+1', '@SUM(1)', '\t=1', '\r=1', '＝1'])(
    'neutralizes the formula %j in a name',
    async name => {
      const rows = readCsv(
        await text(streamCsv(createReportExample({ names: [name] }), { bom: false })),
      )
      expect(rows[0]!.channel).toBe(`'${name}`)
    },
  )
})

describe('a report as XLSX', () => {
  it('has a sheet with totals and one for each usecase, with dates and numbers', async () => {
    const sheets = await readXlsx(await createXlsx(report))
    expect(sheets.map(({ sheet }) => sheet)).toEqual(['Summary', 'line-crossing'])
    const [summary, crossings] = sheets.map(({ data }) => data)
    expect(summary![1]!.slice(0, 2)).toEqual(['Site', 'Düsseldorf'])
    expect(summary).toContainEqual(['Łódź, "Nord"', 465, 465, 1.5, 400, 0, 2])
    expect(crossings![0]!.slice(0, 4)).toEqual(['Channel', 'First day', 'Last day', 'Up'])
    expect(crossings![2]).toEqual([
      'Łódź, "Nord"',
      new Date('2026-03-02T00:00:00Z'),
      new Date('2026-03-02T00:00:00Z'),
      ...[1, 1, 1.5, 1, 1, 2],
    ])
    expect(crossings).toHaveLength(63)
  })

  it('names incomplete channels in the summary', async () => {
    const [summary] = await readXlsx(
      await createXlsx(createReportExample({ names: ['Gate', 'Hall'], incomplete: ['Hall'] })),
    )
    expect(summary!.data.map(row => row.slice(0, 2))).toContainEqual([
      'INCOMPLETE',
      'Events may be missing of Hall',
    ])
    const [complete] = await readXlsx(await createXlsx(report))
    expect(complete!.data.map(([name]) => name)).not.toContain('INCOMPLETE')
  })

  it('has texts where names look like formulas, and valid names of sheets', async () => {
    const [section] = createReportExample({ names: ['=1+1'] }).sections
    const long = 'a/b'.repeat(20)
    const sections = [long, long.toUpperCase(), 'summary'].map(usecaseKey => ({
      ...section!,
      usecase_key: usecaseKey,
    }))
    const sheets = await readXlsx(await createXlsx({ ...report, sections }))
    const names = sheets.map(({ sheet }) => sheet)
    expect(new Set(names.map(name => name.toLowerCase())).size).toBe(4)
    for (const name of names) expect(name).toMatch(/^[^[\]:*?/\\]{1,31}$/)
    expect(sheets[1]!.data[1]![0]).toBe('=1+1')
  })

  it('of no channels has only the summary', async () => {
    const sheets = await readXlsx(await createXlsx({ ...report, sections: [] }))
    expect(sheets.map(({ sheet }) => sheet)).toEqual(['Summary'])
  })
})

describe('a report as PDF', needs(installedProgram('pdftotext')), () => {
  async function readPdf(content: Report, fonts = findFonts()): Promise<string> {
    const path = join(createTemporaryFolder(), 'report.pdf')
    writeFileSync(path, await createPdf(content, fonts))
    return execFileSync('pdftotext', ['-layout', path, '-'], { encoding: 'utf8' })
  }

  it('has title, site, period, time zone, values and page numbers', async () => {
    const content = await readPdf(report)
    for (const part of [
      'Traffic of March',
      'Düsseldorf',
      '2026-03-01 to 2026-03-31',
      '2026-02-01 to 2026-02-28',
      'Europe/Berlin',
      '2026-04-01 06:00',
      'Page 1 of 3',
      'Page 3 of 3',
    ]) {
      expect(content).toContain(part)
    }
    expect(content).toMatch(/All channels +465 +465 +1\.5/)
    expect(content).toMatch(/change +\+16 % +– +-25 %/)
    expect(content).toMatch(/2026-03-31 +90 +30 +–/)
  })

  it('names incomplete channels below the title', async () => {
    const names = ['Gate', 'Hall']
    expect(await readPdf(createReportExample({ names, incomplete: names }))).toMatch(
      /INCOMPLETE +Events may be missing of Gate, Hall/,
    )
    expect(await readPdf(report)).not.toContain('INCOMPLETE')
  })

  it('shows names in Latin, Cyrillic, Greek and Chinese', async () => {
    const content = await readPdf(report)
    expect(content).toContain('Łódź, "Nord"')
    expect(content).toContain('Ворота Αθήνα 北京')
    expect(content).not.toContain('□')
  })

  it('says that characters are replaced which no font has', async () => {
    const content = await readPdf(createReportExample({ names: ['North \u{1F6AA}'] }))
    expect(content).toContain('North □')
    expect(content).toContain('□ stands for characters')
    expect(await readPdf(report, { ...findFonts(), fallback: undefined })).toContain(
      'Ворота Αθήνα □□',
    )
  })

  it('has the same bytes for the same report', async () => {
    const [first, second] = [
      await createPdf(report, findFonts()),
      await createPdf(report, findFonts()),
    ]
    expect(first.equals(second)).toBe(true)
  })

  it('repeats headings of tables on each page, and divides wide tables', async () => {
    const [section] = report.sections
    const columns = Array.from({ length: 14 }, (_, index) => ({
      key: `key_${index}`,
      label: `Label ${index}`,
      isSum: true,
    }))
    const widen = <T extends { values: readonly unknown[] }>(row: T) => ({
      ...row,
      values: columns.map((_, index) => 1000 + index),
    })
    const channels = section!.channels.map(channel => ({
      ...channel,
      rows: channel.rows.map(widen),
    }))
    const combined = { ...section!.combined, rows: section!.combined.rows.map(widen) }
    const content = await readPdf({
      ...report,
      sections: [{ ...section!, columns, channels, combined }],
    })
    expect(content).toContain('Label 13')
    expect(content).toContain('1,013')
    const pages = content.split('\f').filter(page => page.trim() !== '')
    expect(pages.length).toBeGreaterThan(5)
    for (const page of pages) expect(page).toContain('Label')
  })

  it('has lines instead of bars for many days, and a sentence instead of a table without channels', async () => {
    expect(await readPdf(createReportExample({ dayCount: 200 }))).toContain('2026-09-16')
    expect(await readPdf({ ...report, sections: [] })).toContain(
      'No channel has the requested statistics.',
    )
  })

  it('cuts long names, and shows control characters as spaces', async () => {
    const content = await readPdf(
      createReportExample({ names: [`${'long '.repeat(100)}end`, 'Tor\nNord'] }),
    )
    expect(content).toContain('…')
    expect(content).not.toContain('end ')
    expect(content).toContain('Tor Nord')
  })
})

it.each([
  ['Łódź / "Nord"', 'odz-Nord-2026-03-01-2026-03-31.pdf'],
  ['北京', 'report-2026-03-01-2026-03-31.pdf'],
  ['../../etc/passwd', 'etc-passwd-2026-03-01-2026-03-31.pdf'],
])('names the file of %s with plain characters', (title, name) => {
  expect(createFileName({ ...report, title }, 'pdf')).toBe(name)
})
