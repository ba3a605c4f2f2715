"""Fit MultiView on a clean drive, score a drive with planted faults, print the events found."""

import axonad
from axonad.data.telemetry import generate_telemetry

drive = generate_telemetry(steps=8_000)
train = axonad.Series(values=drive.train, channels=drive.channels)
detector = axonad.MultiView(views=("shape", "forecast", "relation")).fit(train)
scores = detector.decision_function(drive.test)  # one per row, higher = more anomalous
alarms = detector.predict(drive.test)  # 0/1, threshold set from training scores only
print(axonad.evaluate(scores, drive.test_labels, metrics=["VUS-PR", "AUC-PR", "AUC-ROC"]))
for event in detector.events(drive.test, gap=25, why=True):
    print(f"steps {event.start}–{event.end - 1}, score {event.score:.1f}: {event.why.sentence}")
