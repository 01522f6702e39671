import { errorTable } from '@eyrie/contract/errors'
import { table } from './table.ts'

/** The one table of error codes. */
export const errorsPage = () =>
  [
    '# Errors',
    'The engine answers `{"code", "reason", "value"}`: the reason says what is wrong and where. Management answers its envelope with the same status, the reason as `message`, and in `response.fields` every field at fault. An operation may give a code another status where its description says so. What cannot be read as a request of HTTP at all is `syntax`: with 408 where it does not come whole in time; headers that are too large are `size` with 431.',
    table(
      ['Code', 'Status', 'Meaning', 'What to do'],
      Object.entries(errorTable).map(([code, { status, meaning, remedy }]) => [
        `\`${code}\``,
        String(status),
        meaning,
        remedy.replace(/<(\w+)>/g, '`<$1>`'),
      ]),
    ),
  ].join('\n\n')
