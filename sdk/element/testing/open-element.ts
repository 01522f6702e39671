import { createStreamClock } from '../clock.ts'
import type { Element, ElementContext, ElementDefinition, Log } from '../define.ts'
import type { ElementStorage } from '../granted.ts'
import { createElementMetrics, type MetricValues } from '../metrics.ts'
import { parseSetup } from '../parse-setup.ts'
import { openRealModels } from './real-models.ts'
import { createRecordedAnswers } from './recorded-answers.ts'

/** What a channel provides to the element. Everything is optional. */
export interface OpenOptions
  extends Partial<Omit<ElementContext<unknown, unknown>, 'clock' | 'metrics'>> {
  /**
   * Runs the models that `plugin.json` declares on the pictures of the frames, with the code of the
   * engine. Only under `eyrie plugin test`; by default, `infer` is answered by the test.
   */
  readonly models?: 'real' | undefined
}

/** An entry that the element has written to its log. */
export interface LogEntry {
  level: keyof Log
  fields: object
  message: string
}

/** An opened element, and what it has reported in addition to results. */
export interface TestElement extends Element {
  readonly log: readonly LogEntry[]
  /** Returns the present values of all metrics. */
  readMetrics(): MetricValues
}

/**
 * Opens an element as a channel does: the schemas of the element validate `args` and `config`, and
 * add defaults. Rejects with the reason if a model cannot be loaded.
 */
export async function openElement(
  definition: ElementDefinition,
  { args = {}, config, source = { id: 1 }, models, ...provided }: OpenOptions = {},
): Promise<TestElement> {
  const { clock, advance } = createStreamClock()
  const { metrics, collect } = createElementMetrics()
  const entries: LogEntry[] = []
  const realModels = models === 'real' ? await openRealModels() : undefined

  const element = await definition.open({
    size: undefined,
    inference: undefined,
    infer: realModels?.infer ?? createRecordedAnswers({}),
    log: createLog(entries),
    ...provided,
    ...parseSetup(definition, { args, config }),
    source,
    clock,
    metrics,
  })

  const process: Element['process'] = (frame, picture) => {
    advance(frame)
    return element.process(frame, picture)
  }
  let latestMetrics: MetricValues = { values: {}, totals: {} }
  return {
    ...(element.view && { view: element.view }),
    ...(element.size && { size: element.size }),
    ...(element.metadata && { metadata: element.metadata }),
    log: entries,
    readMetrics() {
      // `collect` returns undefined if no metric has changed since the last call.
      latestMetrics = collect() ?? latestMetrics
      return latestMetrics
    },
    process: realModels ? realModels.host(process) : process,
    close() {
      element.close?.()
      realModels?.close()
    },
  }
}

/** Creates a log that appends to the entries. */
function createLog(entries: LogEntry[]): Log {
  const writeAt = (level: keyof Log) => (fields: object, message: string) =>
    void entries.push({ level, fields, message })
  return {
    debug: writeAt('debug'),
    info: writeAt('info'),
    warn: writeAt('warn'),
    error: writeAt('error'),
  }
}

/** Creates a storage in memory for `openElement`. It contains `files` at first. */
export function createMemoryStorage(files: Record<string, string> = {}): ElementStorage {
  const contents = new Map<string, Uint8Array>()
  const encode = (content: string | Uint8Array) =>
    typeof content === 'string' ? new TextEncoder().encode(content) : content
  for (const [name, content] of Object.entries(files)) contents.set(name, encode(content))
  return {
    read: async name => contents.get(name),
    write: async (name, content) => void contents.set(name, encode(content)),
    delete: async name => void contents.delete(name),
    list: async () => [...contents.keys()],
  }
}
