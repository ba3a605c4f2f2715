"""The engine stop near row 29,250 of 2018-03-01 beside one of the training drives, as a picture.

python benchmarks/alarms/picture.py ../shared/data/driving-dev.zip benchmarks/alarms/img/stops.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
from drive_data import load

mpl.use("Agg")

import matplotlib.pyplot as plt

SHOWN = ("2018-03-01", 29_253, "winter: 2018-03-01"), ("2017-07-07", 3_053, "summer: 2017-07-07")
ROWS = 600, 900  # of the file before and after
CHANNELS = {
    "Engine_RPM": "engine speed\n(1/min)",
    "Vehicle_Speed_Sensor": "speed\n(km/h)",
    "Absolute_Throttle_Position": "throttle\n(%)",
    "Intake_Manifold_Absolute_Pressure": "manifold\npressure (kPa)",
    "Intake_Air_Temperature": "intake air\n(°C)",
}


def main(data: Path, out: Path) -> None:
    """Draw two columns of channels."""
    drives = load(data, "KIT-OBD2")
    figure, axes = plt.subplots(len(CHANNELS), 2, figsize=(9, 6.5), sharex="col", sharey="row")
    for column, (name, row, title) in enumerate(SHOWN):
        drive = next(d for d in drives if d.series.name.startswith(name))
        near = (drive.rows >= row - ROWS[0]) & (drive.rows <= row + ROWS[1])
        for line, (channel, label) in enumerate(CHANNELS.items()):
            values = drive.series.values[near, drive.series.channels.index(channel)]
            axes[line, column].plot(drive.rows[near], values, color="#1f4e79", linewidth=1)
            axes[line, column].grid(alpha=0.3)
            axes[line, 0].set_ylabel(label, fontsize=8)
        axes[0, column].set_title(f"{title}, engine off from row {row:,}", fontsize=10)
        axes[-1, column].set_xlabel("row of the file")
    figure.tight_layout()
    figure.savefig(out, dpi=80)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
