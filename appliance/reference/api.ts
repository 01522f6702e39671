import type { ApiDocument } from '@eyrie/kit/api-docs'
import { type Operation, operationSection, paragraphs, refusalsOf } from './operation.ts'
import { type Schema, typeOf } from './schema.ts'
import { fieldTable } from './table.ts'

export interface PageOptions {
  /** Stands below the title. */
  intro: string
  /** The part of an answer that differs from operation to operation. */
  answerIn?(schema: Schema): Schema
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** An API's operations by resource, and the types of what is sent and answered, as a page. */
export function apiPage(
  { info, servers, paths, components }: ApiDocument,
  { intro, answerIn = schema => schema }: PageOptions,
): string {
  const base = servers?.[0]?.url ?? ''
  const operations = Object.entries(paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap(method => {
      const operation = (item as Record<string, Operation>)[method]
      return operation ? [{ path, method, operation }] : []
    }),
  )
  const usual = usualRefusals(operations.map(({ operation }) => operation))
  const byResource = Map.groupBy(operations, ({ path }) => path.split('/')[1]!)
  const types = Object.entries((components?.schemas ?? {}) as Record<string, Schema>)
  return paragraphs(
    `# ${info.title}`,
    intro,
    `All paths are below \`${base}\`; the same as data: \`GET ${base}/openapi.json\`.`,
    `Every operation may answer, besides what is said of it:\n\n${usual.join('\n')}`,
    ...[...byResource].flatMap(([resource, all]) => [
      `## ${resource}`,
      ...all.map(({ path, method, operation }) =>
        operationSection(`${method.toUpperCase()} ${path}`, operation, { usual: new Set(usual), answerIn }),
      ),
    ]),
    '## Types',
    ...types.map(([name, schema]) =>
      paragraphs(`### ${name}`, schema.description, fieldTable(schema) || typeOf(schema)),
    ),
  )
}

/** Refusals that all of them share. */
function usualRefusals(operations: Operation[]): string[] {
  const [first, ...others] = operations.map(refusalsOf)
  return first?.filter(refusal => others.every(refusals => refusals.includes(refusal))) ?? []
}
