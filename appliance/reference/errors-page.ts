import { ERROR_TABLE } from '@eyrie/contract/errors'
import { renderTable } from './field-table.ts'

/** Renders the page of the error codes. */
export const renderErrorsPage = () =>
  [
    '# Errors',
    'The engine returns errors as `{"code", "reason", "value"}`; the reason describes the problem and its location. The management service returns its envelope with the same status, the reason as `message`, and all invalid fields in `response.fields`. An operation may return a code with another status if its description says so. A malformed HTTP request returns `syntax`, with status 408 if the request is incomplete at the time limit. Headers that are too large return `size` with status 431.',
    renderTable(
      ['Code', 'Status', 'Meaning', 'What to do'],
      Object.entries(ERROR_TABLE).map(([code, { status, meaning, remedy }]) => [
        `\`${code}\``,
        String(status),
        meaning,
        remedy.replace(/<(\w+)>/g, '`<$1>`'),
      ]),
    ),
  ].join('\n\n')
