import { renderFieldTable, renderTable } from './field-table.ts'
import { describeType, renderCode, type Schema } from './schema-type.ts'

interface Content {
  schema?: Schema
}

/** An OpenAPI operation, limited to what Eyrie's documents use. */
export interface Operation {
  summary: string
  description?: string
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[]
  requestBody?: { content: Record<string, Content> }
  responses: Record<string, { description: string; content?: Record<string, Content> }>
}

export interface OperationOptions {
  /** Errors that the page lists once for all operations. */
  commonErrors: ReadonlySet<string>
  /** Extracts the part of a response schema that differs between operations. */
  unwrapResponse(schema: Schema): Schema
}

/** Renders an operation: parameters, request body, responses and errors. */
export function renderOperation(
  title: string,
  operation: Operation,
  { commonErrors, unwrapResponse }: OperationOptions,
): string {
  const { summary, description, parameters, requestBody, responses } = operation
  return joinParagraphs(
    `### \`${title}\``,
    `${summary}.`,
    description,
    parameters && renderParameters(parameters),
    ...(requestBody ? renderContent('Body', requestBody.content) : []),
    ...Object.entries(responses)
      .filter(response => !isErrorResponse(response))
      .flatMap(([status, { content }]) =>
        content ? renderContent(`**${status}**`, content, unwrapResponse) : [`**${status}** without a body`],
      ),
    listErrors(operation)
      .filter(error => !commonErrors.has(error))
      .join('\n'),
  )
}

export const listErrors = ({ responses }: Operation) =>
  Object.entries(responses)
    .filter(isErrorResponse)
    .map(([status, { description }]) => `- **${status}** ${description}`)

export const joinParagraphs = (...parts: (string | undefined)[]) => parts.filter(Boolean).join('\n\n')

const isErrorResponse = ([status]: [string, unknown]) => Number(status) >= 400

/** Renders the first media type; the others have the same content. */
function renderContent(
  name: string,
  content: Record<string, Content>,
  unwrap = (schema: Schema) => schema,
): string[] {
  const [type, { schema = {} } = {}] = Object.entries(content)[0] ?? []
  if (type !== 'application/json') return [`${name}: \`${type}\``, renderFieldTable(schema)]
  return [`${name}: ${describeType(unwrap(schema))}`, renderFieldTable(unwrap(schema))]
}

const renderParameters = (parameters: NonNullable<Operation['parameters']>) =>
  renderTable(
    ['Parameter', 'In', 'Value', 'Default'],
    parameters.map(({ name, in: place, required, schema = {} }) => [
      `\`${name}\``,
      place,
      describeType(schema),
      schema.default === undefined ? (required ? '*required*' : '') : renderCode(schema.default),
    ]),
  )
