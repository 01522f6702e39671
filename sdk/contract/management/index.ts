// The contract of the management API: the schemas of its records, and its routes.

// Routes, and the fields that records have in common

export * from './management-route.ts'
export * from './management-routes.ts'
export * from './record-fields.ts'
export * from './time-expression.ts'

// Customers, their sites and devices

export * from './customer.ts'
export * from './device.ts'
export * from './image.ts'
export * from './organization.ts'
export * from './site.ts'
export * from './static-content.ts'

// Engines, and what they analyse

export * from './channel.ts'
export * from './managed-engine.ts'
export * from './managed-pipeline.ts'
export * from './managed-source.ts'
export * from './media-ticket.ts'
export * from './placement.ts'
export * from './usecase.ts'

// Events, statistics and reports

export * from './event.ts'
export * from './feed.ts'
export * from './report.ts'
export * from './report-schedule.ts'
export * from './statistic.ts'
export * from './statistic-response.ts'

// Alerts, and the messages about them

export * from './alert.ts'
export * from './alert-policy.ts'
export * from './calendar.ts'
export * from './incident.ts'
export * from './notification.ts'
export * from './push.ts'
export * from './schedule.ts'
export * from './schedule-exception.ts'
export * from './snooze.ts'
export * from './system-alert.ts'
export * from './system-alert-kind.ts'

// Users, and what they may do

export * from './acl.ts'
export * from './identity-provider.ts'
export * from './role.ts'
export * from './sign-in.ts'
export * from './token.ts'
export * from './totp.ts'
export * from './user.ts'

// Administration of the appliance

export * from './audit.ts'
export * from './backup-settings.ts'
export * from './delivery-settings.ts'
export * from './job.ts'
export * from './mqtt-settings.ts'
