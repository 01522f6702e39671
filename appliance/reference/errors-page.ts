import { errorTable } from '@eyrie/contract/errors'
import { renderTable } from './field-table.ts'

/** Renders the page of the error codes. */
export const renderErrorsPage = () =>
  [
    '# Errors',
    'The engine returns errors as `{"code", "reason", "value"}`; the reason says what is wrong and where. Management returns its envelope with the same status, the reason as `message`, and all invalid fields in `response.fields`. An operation may return a code with another status if its description says so. Malformed HTTP requests are answered with `syntax`, with status 408 if the request is not complete in time. Headers that are too large are answered with `size` and status 431.',
    renderTable(
      ['Code', 'Status', 'Meaning', 'What to do'],
      Object.entries(errorTable).map(([code, { status, meaning, remedy }]) => [
        `\`${code}\``,
        String(status),
        meaning,
        remedy.replace(/<(\w+)>/g, '`<$1>`'),
      ]),
    ),
  ].join('\n\n')
