import type { ApiDocument } from '@eyrie/kit/api-docs'
import { renderFieldTable } from './field-table.ts'
import {
  joinParagraphs,
  listErrors,
  type Operation,
  type OperationOptions,
  renderOperation,
} from './operation-section.ts'
import { describeType, type Schema } from './schema-type.ts'

export interface PageOptions {
  /** Text below the title. */
  intro: string
  /** Extracts the part of a response schema to describe. The default is the whole schema. */
  unwrapResponse?(schema: Schema): Schema
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/**
 * Renders the reference page of an API in Markdown, from its OpenAPI document: its operations by
 * resource, and its types.
 */
export function renderApiPage(
  { info, servers, paths, components }: ApiDocument,
  { intro, unwrapResponse = schema => schema }: PageOptions,
): string {
  const base = servers?.[0]?.url ?? ''
  const endpoints = listEndpoints(paths)
  const commonErrors = findCommonErrors(endpoints.map(({ operation }) => operation))
  const options = { commonErrors: new Set(commonErrors), unwrapResponse }

  // The first segment of the path, as in `/pipelines/{id}`, names the resource.
  const byResource = Map.groupBy(endpoints, ({ path }) => path.split('/')[1]!)
  const resources = [...byResource].map(([resource, resourceEndpoints]) =>
    renderResource(resource, resourceEndpoints, options),
  )
  const schemas = (components?.schemas ?? {}) as Record<string, Schema>
  const types = Object.entries(schemas).map(([name, schema]) => renderType(name, schema))

  return joinParagraphs(
    `# ${info.title}`,
    intro,
    `All paths are relative to \`${base}\`. OpenAPI document: \`GET ${base}/openapi.json\`.`,
    `Every operation may also return these errors:\n\n${commonErrors.join('\n')}`,
    ...resources,
    '## Types',
    ...types,
  )
}

interface Endpoint {
  path: string
  method: string
  operation: Operation
}

function renderResource(name: string, endpoints: Endpoint[], options: OperationOptions): string {
  const operations = endpoints.map(({ path, method, operation }) =>
    renderOperation(`${method.toUpperCase()} ${path}`, operation, options),
  )
  return joinParagraphs(`## ${name}`, ...operations)
}

function renderType(name: string, schema: Schema): string {
  const fields = renderFieldTable(schema) || describeType(schema)
  return joinParagraphs(`### ${name}`, schema.description, fields)
}

/** Returns the operations of all paths, in the order of the document. */
function listEndpoints(paths: ApiDocument['paths']): Endpoint[] {
  const endpoints: Endpoint[] = []
  for (const [path, item] of Object.entries(paths ?? {})) {
    for (const method of METHODS) {
      const operation = (item as Record<string, Operation>)[method]
      if (operation) endpoints.push({ path, method, operation })
    }
  }
  return endpoints
}

/** Returns the errors that all operations have in common. */
function findCommonErrors(operations: Operation[]): string[] {
  const [first, ...others] = operations.map(listErrors)
  return first?.filter(error => others.every(errors => errors.includes(error))) ?? []
}
