import { code, type Schema, typeOf } from './schema.ts'
import { fieldTable, table } from './table.ts'

interface Content {
  schema?: Schema
}

/** What Eyrie's documents say of an operation. */
export interface Operation {
  summary: string
  description?: string
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[]
  requestBody?: { content: Record<string, Content> }
  responses: Record<string, { description: string; content?: Record<string, Content> }>
}

export interface OperationOptions {
  /** Refusals that the page has told once for all operations. */
  usual: ReadonlySet<string>
  /** The part of an answer that differs from operation to operation. */
  answerIn(schema: Schema): Schema
}

/** An operation with what it takes, what it answers and how it may refuse. */
export function operationSection(
  title: string,
  operation: Operation,
  { usual, answerIn }: OperationOptions,
): string {
  const { summary, description, parameters, requestBody, responses } = operation
  return paragraphs(
    `### \`${title}\``,
    `${summary}.`,
    description,
    parameters && parameterTable(parameters),
    ...(requestBody ? contentsOf('Body', requestBody.content) : []),
    ...Object.entries(responses)
      .filter(each => !isRefusal(each))
      .flatMap(([status, { content }]) =>
        content ? contentsOf(`**${status}**`, content, answerIn) : [`**${status}** without a body`],
      ),
    refusalsOf(operation)
      .filter(refusal => !usual.has(refusal))
      .join('\n'),
  )
}

export const refusalsOf = ({ responses }: Operation) =>
  Object.entries(responses)
    .filter(isRefusal)
    .map(([status, { description }]) => `- **${status}** ${description}`)

export const paragraphs = (...parts: (string | undefined)[]) => parts.filter(Boolean).join('\n\n')

const isRefusal = ([status]: [string, unknown]) => Number(status) >= 400

/** The first of several media types: the others carry the same. */
function contentsOf(
  name: string,
  content: Record<string, Content>,
  part = (schema: Schema) => schema,
): string[] {
  const [type, { schema = {} } = {}] = Object.entries(content)[0] ?? []
  if (type !== 'application/json') return [`${name}: \`${type}\``, fieldTable(schema)]
  return [`${name}: ${typeOf(part(schema))}`, fieldTable(part(schema))]
}

const parameterTable = (parameters: NonNullable<Operation['parameters']>) =>
  table(
    ['Parameter', 'In', 'Value', 'Default'],
    parameters.map(({ name, in: place, required, schema = {} }) => [
      `\`${name}\``,
      place,
      typeOf(schema),
      schema.default === undefined ? (required ? '*required*' : '') : code(schema.default),
    ]),
  )
