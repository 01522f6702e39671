import type { DeliveryRequest, ReportFile } from '@eyrie/contract/management/delivery-queue'
import type { Report, ReportSection } from '../report.ts'

/** Creates the e-mail that has a report as its attachment. `receivers` get one each. */
export function createReportRequest(
  report: Report,
  file: ReportFile,
  receivers: readonly string[],
  thread_key: string,
): DeliveryRequest {
  const { title, siteName, timeZone, firstDay, lastDay, createdAt, sections } = report
  const days = firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`
  const subject = `${title}: ${days}`
  return {
    action: { action_type: 'email', action_to: receivers.join(', ') },
    subject,
    message: [
      `${siteName}, ${days} (${timeZone})`,
      ...(sections.length > 0 ? sections.map(describeTotals) : ['No channel has statistics.']),
      `The details are in the attached file ${file.file_name}.`,
    ].join('\n\n'),
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
    thread_key,
    digest: true,
  }
}

/** Returns the totals of all channels of a usecase, with those of the period before. */
function describeTotals({ usecase_name, columns, channels, combined }: ReportSection): string {
  const lines = columns.map(({ label }, index) => {
    const before = combined.previousTotal
    const comparison = before ? ` (before: ${formatValue(before[index])})` : ''
    return `${label}: ${formatValue(combined.total[index])}${comparison}`
  })
  const count = channels.length === 1 ? channels[0]!.channel_name : `${channels.length} channels`
  return [`${usecase_name}, ${count}`, ...lines].join('\n')
}

const formatValue = (value: number | undefined) => (value === undefined ? 'none' : String(value))
