import type { DeliveryRequest, ReportFile } from '@eyrie/contract/management/delivery-queue'
import { listIncompleteChannels, type Report, type ReportSection } from '../report.ts'

export interface ReportMessageOptions {
  /** The attachment. */
  file: ReportFile
  /** E-mail addresses. Each receiver gets an e-mail of their own. */
  receivers: readonly string[]
  /** Mail programs show the e-mails with the same key as one conversation. */
  threadKey: string
}

/** Creates the e-mail that has a report as its attachment. */
export function createReportRequest(
  report: Report,
  { file, receivers, threadKey }: ReportMessageOptions,
): DeliveryRequest {
  const { title, siteName, timeZone, firstDay, lastDay, createdAt, sections } = report
  const incompleteChannels = listIncompleteChannels(report)
  const days = firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`
  const subject = `${title}: ${days}`
  return {
    action: { action_type: 'email', action_to: receivers.join(', ') },
    subject,
    message: [
      `${siteName}, ${days} (${timeZone})`,
      ...(incompleteChannels.length > 0 ? [describeIncomplete(incompleteChannels)] : []),
      ...(sections.length > 0 ? sections.map(describeTotals) : ['No channel has statistics.']),
      `The details are in the attached file ${file.file_name}.`,
    ].join('\n\n'),
    // Every message has the details of an alert. A report is not an alert: only its title, site and
    // time are meaningful.
    details: {
      alert_name: title,
      alert_priority: 'low',
      alert_threshold: '0',
      alert_threshold_condition: 'gte',
      alert_threshold_key: '',
      channel_name: siteName,
      usecase_key: 'report',
      value: 0,
      time: createdAt.toISOString(),
    },
    report: file,
    thread_key: threadKey,
    digest: true,
  }
}

const describeIncomplete = (channels: readonly string[]) =>
  `INCOMPLETE: events of ${channels.join(', ')} may be missing, because their engine was ` +
  'unreachable or had not sent all events yet.'

/**
 * Returns the totals of a usecase as lines of text, with those of the previous period in a
 * report with a comparison.
 */
function describeTotals({
  usecase_name: usecaseName,
  columns,
  channels,
  combined,
}: ReportSection): string {
  const lines = columns.map(({ label }, index) => {
    const { previousTotal } = combined
    const comparison = previousTotal ? ` (before: ${formatValue(previousTotal[index])})` : ''
    return `${label}: ${formatValue(combined.total[index])}${comparison}`
  })
  const scope = channels.length === 1 ? channels[0]!.channel_name : `${channels.length} channels`
  return [`${usecaseName}, ${scope}`, ...lines].join('\n')
}

const formatValue = (value: number | undefined) => (value === undefined ? 'none' : String(value))
