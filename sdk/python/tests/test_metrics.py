from unittest import TestCase

from eyrie_element import Metrics


class MetricsTest(TestCase):
    def test_maintains_values_and_totals(self) -> None:
        metrics = Metrics()
        metrics.set('brightness', 0.5)
        metrics.add('resets')
        metrics.add('resets', 2)
        self.assertEqual((metrics.values, metrics.totals), ({'brightness': 0.5}, {'resets': 3}))
        self.assertTrue(metrics.has_changed)

    def test_refuses_what_the_engine_does_not_accept(self) -> None:
        metrics = Metrics()
        with self.assertRaisesRegex(ValueError, 'lower-case letters'):
            metrics.set('Brightness', 1)
        with self.assertRaisesRegex(ValueError, 'is not a number'):
            metrics.set('brightness', float('nan'))
        with self.assertRaisesRegex(ValueError, 'would decrease'):
            metrics.add('resets', -1)
        for number in range(32):
            metrics.set(f'metric_{number}', 0)
        with self.assertRaisesRegex(ValueError, 'more than 32 metrics'):
            metrics.add('one_more')

    def test_refuses_a_total_that_json_cannot_express(self) -> None:
        metrics = Metrics()
        metrics.add('bytes', 1e308)
        with self.assertRaisesRegex(ValueError, 'total of the metric bytes is too large'):
            metrics.add('bytes', 1e308)
        with self.assertRaisesRegex(ValueError, 'value of the metric bytes is too large'):
            metrics.add('bytes', 10**400)
        with self.assertRaisesRegex(ValueError, 'value of the metric bytes is too large'):
            metrics.set('bytes', 10**400)
        self.assertEqual(metrics.totals, {'bytes': 1e308})
