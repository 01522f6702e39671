import { join } from 'node:path'
import {
  isQuarantined,
  type ModelScan,
  openQuarantine,
  publishedModels,
  removeModel,
  scanModels,
  shippedModels,
} from '@eyrie/model-store'
import { type Command, parseArguments } from '../command/command.ts'
import { formatTable, styled, type Terminal, writeJson } from '../command/terminal.ts'

export const listModelsCommand: Command = {
  usage: '[--json]',
  about: 'Lists the models that pipelines can use, and broken or quarantined models with the reason.',

  async run(args, terminal) {
    const { values } = parseArguments(args, { json: { type: 'boolean' } }, [])
    const root = join(terminal.data, 'models')
    const scan = await scanModels([root, shippedModels])
    const models = toModelEntries(scan, root)
    if (values.json) writeJson(terminal.out, { models, broken: scan.broken })
    else printModels(models, scan.broken, terminal)
  },
}

interface ModelEntry {
  name: string
  head: string
  classes: number
  input: string
  license: string
  origin: 'added' | 'shipped'
  /** The last crash of a quarantined model; null if the model may run. */
  quarantine: string | null
}

function toModelEntries({ models }: ModelScan, root: string): ModelEntry[] {
  const quarantine = openQuarantine(root)
  return [...models.values()].map(({ card, folder }) => {
    const { width, height, dynamic } = card.input
    const crashes = quarantine.findCrashes(card.sha256)
    return {
      name: card.name,
      head: card.head,
      classes: card.labels.length,
      input: `${width}x${height}${dynamic ? ' or any' : ''}`,
      license: card.license,
      origin: folder === join(root, card.name) ? 'added' : 'shipped',
      quarantine: crashes && isQuarantined(crashes) ? crashes.last : null,
    }
  })
}

function printModels(models: ModelEntry[], broken: ModelScan['broken'], { out, err }: Terminal): void {
  const rows = models.map(model => [
    model.name,
    model.head,
    String(model.classes),
    model.input,
    model.license,
    model.origin,
    model.quarantine ? `in quarantine: ${model.quarantine}` : 'ready',
  ])
  const header = ['NAME', 'HEAD', 'CLASSES', 'INPUT', 'LICENSE', 'ORIGIN', 'STATE']
  out.write(models.length > 0 ? formatTable([header, ...rows]) : 'There are no models.\n')

  for (const { folder, reason } of broken)
    err.write(`${styled(err, 'yellow', 'broken')} ${folder}: ${reason}\n`)

  const installed = new Set(models.map(({ name }) => name))
  for (const [name, { about }] of Object.entries(publishedModels))
    if (!installed.has(name)) out.write(`eyrie model add ${name}  (${about})\n`)
}

export const removeModelCommand: Command = {
  usage: '<name>',
  about: 'Removes a model that was added. Pipelines that use it fail until it is added again.',

  async run(args, { data, out }) {
    const { positionals } = parseArguments(args, {}, ['name'])
    const name = positionals[0]!
    await removeModel(join(data, 'models'), name)
    out.write(`${styled(out, 'green', 'removed')} ${name}\n`)
  },
}
