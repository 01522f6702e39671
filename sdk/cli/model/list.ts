import { join } from 'node:path'
import {
  isQuarantined,
  openQuarantine,
  publishedModels,
  type Scan,
  scanModels,
  shippedModels,
} from '@eyrie/model-store'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { json, styled, type Terminal, table } from '../terminal.ts'

export const listCommand: Command = {
  usage: '[--json]',
  about: 'Lists the models that pipelines can use, and what is wrong with those that they cannot.',

  async run(args, terminal) {
    const { values } = parse(args, { json: { type: 'boolean' } }, [])
    const root = join(terminal.data, 'models')
    const scan = await scanModels([root, shippedModels])
    const models = rows(scan, root)
    if (values.json) json(terminal.out, { models, broken: scan.broken })
    else show(models, scan.broken, terminal)
  },
}

interface Row {
  name: string
  head: string
  classes: number
  input: string
  license: string
  origin: 'added' | 'shipped'
  /** Why it is not run any more; null if it may be. */
  quarantine: string | null
}

function rows({ models }: Scan, root: string): Row[] {
  const quarantine = openQuarantine(root)
  return [...models.values()].map(({ card, folder }) => {
    const { width, height, dynamic } = card.input
    const record = quarantine.recordOf(card.sha256)
    return {
      name: card.name,
      head: card.head,
      classes: card.labels.length,
      input: `${width}x${height}${dynamic ? ' or any' : ''}`,
      license: card.license,
      origin: folder === join(root, card.name) ? 'added' : 'shipped',
      quarantine: record && isQuarantined(record) ? record.last : null,
    }
  })
}

function show(models: Row[], broken: Scan['broken'], { out, err }: Terminal): void {
  const cells = models.map(row => [
    row.name,
    row.head,
    String(row.classes),
    row.input,
    row.license,
    row.origin,
    row.quarantine ? `in quarantine: ${row.quarantine}` : 'ready',
  ])
  const header = ['NAME', 'HEAD', 'CLASSES', 'INPUT', 'LICENSE', 'ORIGIN', 'STATE']
  if (models.length > 0) out.write(table([header, ...cells]))
  else out.write('There are no models.\n')

  for (const { folder, reason } of broken)
    err.write(`${styled(err, 'yellow', 'broken')} ${folder}: ${reason}\n`)

  const more = Object.entries(publishedModels).filter(([name]) => !models.some(row => row.name === name))
  for (const [name, { about }] of more) out.write(`eyrie model add ${name}  (${about})\n`)
}
