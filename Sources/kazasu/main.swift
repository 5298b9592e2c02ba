print("kazasu")
