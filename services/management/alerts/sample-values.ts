import type { SampleValues } from '@eyrie/contract/management/delivery'
import type { FiringDetails } from '@eyrie/contract/management/delivery-queue'

/** The data of a firing of an alert that does not exist. */
export const createExample = (now: Date): FiringDetails => ({
  alert_name: 'Example alert',
  alert_priority: 'high',
  alert_threshold: '5',
  alert_threshold_condition: 'gt',
  alert_threshold_key: 'total',
  channel_name: 'Example channel',
  usecase_key: 'line-crossing',
  value: 6,
  time: now.toISOString(),
})

/** Replaces the data of a firing by the values that a caller wants to see in a message. */
export function replaceValues(details: FiringDetails, values: SampleValues): FiringDetails {
  const { key, condition, threshold, ...others } = values
  return {
    ...details,
    ...others,
    alert_threshold_key: key ?? details.alert_threshold_key,
    alert_threshold_condition: condition ?? details.alert_threshold_condition,
    alert_threshold: threshold ?? details.alert_threshold,
  }
}
