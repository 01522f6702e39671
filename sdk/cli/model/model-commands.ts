import { join } from 'node:path'
import {
  isQuarantined,
  type ModelScan,
  openQuarantine,
  PUBLISHED_MODELS,
  removeModel,
  SHIPPED_MODELS,
  scanModels,
} from '@eyrie/model-store'
import { type Command, JSON_OPTION, parseArguments } from '../command/command.ts'
import {
  type Output,
  styled,
  type Terminal,
  writeJson,
  writeSuccess,
  writeTable,
} from '../command/terminal.ts'

/**
 * `eyrie model list`: lists the models that are installed, and the published ones that can be
 * added.
 */
export const listModelsCommand: Command = {
  usage: '[--json]',
  about:
    'Lists the models that pipelines can use, and broken or quarantined models with the reason.',

  async run(args, terminal) {
    const { values } = parseArguments(args, JSON_OPTION)
    const addedModels = join(terminal.data, 'models')
    const scan = await scanModels([addedModels, SHIPPED_MODELS])
    const models = toModelEntries(scan, addedModels)
    if (values.json) writeJson(terminal.out, { models, broken: scan.broken })
    else printModels(models, scan.broken, terminal)
  },
}

/** A model, as the command prints it. */
interface ModelEntry {
  name: string
  /** Format of the model's output. */
  head: string
  classes: number
  input: string
  license: string
  origin: 'added' | 'shipped'
  /** The last crash of a quarantined model; null if the model may run. */
  quarantine: string | null
}

/**
 * Describes models for the list. A model that has crashed the engine repeatedly is in
 * quarantine: it is not loaded.
 */
function toModelEntries({ models }: ModelScan, addedModels: string): ModelEntry[] {
  const quarantine = openQuarantine(addedModels)
  return [...models.values()].map(({ card, folder }) => {
    const { width, height, dynamic } = card.input
    const crashes = quarantine.findCrashes(card.sha256)
    return {
      name: card.name,
      head: card.head,
      classes: card.labels.length,
      input: `${width}x${height}${dynamic ? ' or any' : ''}`,
      license: card.license,
      origin: folder === join(addedModels, card.name) ? 'added' : 'shipped',
      quarantine: crashes && isQuarantined(crashes) ? crashes.last : null,
    }
  })
}

function printModels(
  models: ModelEntry[],
  broken: ModelScan['broken'],
  { out, err }: Terminal,
): void {
  if (models.length === 0) out.write('There are no models.\n')
  else printModelTable(models, out)

  for (const { folder, reason } of broken) {
    err.write(`${styled(err, 'yellow', 'broken')} ${folder}: ${reason}\n`)
  }

  // How to add the published models that are not installed.
  const installed = new Set(models.map(({ name }) => name))
  for (const [name, { about }] of Object.entries(PUBLISHED_MODELS)) {
    if (!installed.has(name)) out.write(`eyrie model add ${name}  (${about})\n`)
  }
}

function printModelTable(models: ModelEntry[], out: Output): void {
  const header = ['NAME', 'HEAD', 'CLASSES', 'INPUT', 'LICENSE', 'ORIGIN', 'STATE']
  const rows = models.map(({ name, head, classes, input, license, origin, quarantine }) => {
    const state = quarantine ? `in quarantine: ${quarantine}` : 'ready'
    return [name, head, String(classes), input, license, origin, state]
  })
  writeTable(out, [header, ...rows])
}

/**
 * `eyrie model remove`: deletes a model from the data folder. Models that are part of Eyrie remain.
 */
export const removeModelCommand: Command = {
  usage: '<name>',
  about: 'Removes a model that was added. Pipelines that use it fail until it is added again.',

  async run(args, { data, out }) {
    const { positionals } = parseArguments(args, {}, ['name'])
    const [name] = positionals
    await removeModel(join(data, 'models'), name)
    writeSuccess(out, 'removed', name)
  },
}
